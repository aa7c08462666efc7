//! `deft notices …`: notices and their delivery.

use std::mem;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::json;

use crate::args::{Global, Notices};
use crate::failure::Done;
use crate::output::{Output, format_count};
use crate::pages::{Extent, ListDocument};
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::when;
use deft_service::{App, notices};
use deft_wire::notice::NoticeView;

pub(crate) fn run(command: &Notices, global: &Global, output: &Output) -> Done {
    match command {
        Notices::List { dead, extent } => {
            list(&App::to_read(&global.workspace())?, *dead, *extent, output)
        }
        Notices::Retry { id } => {
            let app = App::without_skills(&global.workspace())?;
            let done = retry(&app, id.as_deref(), output);
            app.close();
            done
        }
    }
}

fn list(app: &App, dead: bool, extent: Extent, output: &Output) -> Done {
    let mut pages = notices::list(app, dead);
    if output.json {
        let mut document = ListDocument::begin("notices");
        let read = |wanted| pages.next(wanted);
        extent.show(output, read, |notices| {
            let mut notices = notices.iter();
            notices.try_for_each(|notice| document.add(&json!(notice)))
        })?;
        document.end(&[])?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut head = true;
    output.page();
    let read = |wanted| pages.next(wanted);
    let count = extent.show(output, read, |notices| {
        let table = Table::new(COLUMNS, notices.iter().map(|notice| row(notice, app)));
        output.table(&if mem::take(&mut head) {
            table
        } else {
            table.headless()
        })
    })?;
    if count == 0 {
        output.note("no notices");
    }
    extent.note_omitted_rows(output, count, || pages.count())?;
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [Column; 5] = [
    Column::keep("id"),
    Column::keep("at"),
    Column::keep("status"),
    Column::text("text"),
    Column::extra("skill"),
];

fn row(notice: &NoticeView, app: &App) -> Row {
    let tone = match notice.error {
        Some(_) => Tone::Bad,
        None => Tone::Plain,
    };
    let cells = [
        notice.id.to_string().into(),
        when::short(notice.at, Timestamp::now(), &app.zone).into(),
        Cell::with_tone(notice.status.word(), tone),
        notice.notice.text.as_str().into(),
        notice.skill.as_deref().unwrap_or_default().into(),
    ];
    Row::new(cells).with_below(notice.error.as_deref())
}

fn retry(app: &App, id: Option<&str>, output: &Output) -> Done {
    let retried = notices::retry(app, id)?;
    if output.json {
        output.document(&json!(retried))?;
    } else {
        let count = usize::try_from(retried.queued).unwrap_or(usize::MAX);
        output.prose(format!("{} queued again", format_count(count, "notice")))?;
    }
    Ok(ExitCode::SUCCESS)
}
