//! `deft runs list`.

use std::mem;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::args::{Global, RunList};
use crate::failure::Done;
use crate::output::Output;
use crate::pages::{Extent, ListDocument};
use crate::progress::duration;
use crate::table::{Cell, Column, Row, Table, Tone};
use crate::when;
use deft_service::App;
use deft_service::runs::{self, RunPages, RunQuery};
use deft_wire::model::Choice;
use deft_wire::run::{ListedRun, RunView};

pub(crate) fn run(args: &RunList, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let query = RunQuery {
        skill: args.skill.clone(),
        status: args.status.as_deref().and_then(Choice::from_word),
        outcome: args.outcome.as_deref().and_then(Choice::from_word),
        chats: args.chats,
    };
    if let Some(skill) = &args.skill {
        runs::check_skill(&app, &global.workspace(), skill)?;
    }
    let mut pages = runs::list(&app, query);
    output.page();
    if output.json {
        return document(&mut pages, args.extent, output);
    }
    let (mut head, mut abandoned) = (true, false);
    let read = |wanted| pages.next(wanted);
    let shown = args.extent.show(output, read, |runs| {
        abandoned |= runs.iter().any(|run| run.owner_gone);
        output.table(&list_table(&runs, &app, mem::take(&mut head)))
    })?;
    if shown == 0 {
        output.note("no runs yet; `deft run NAME` starts one");
    }
    if abandoned {
        output.note(&format!(
            "hint: the process of an `{ABANDONED}` run has exited; `deft runs resume ID` or `deft up` continues the run"
        ));
    }
    args.extent
        .note_omitted_rows(output, shown, || pages.count())?;
    Ok(ExitCode::SUCCESS)
}

fn document(pages: &mut RunPages<'_>, extent: Extent, output: &Output) -> Done {
    let mut document = ListDocument::begin("runs");
    let read = |wanted| pages.next(wanted);
    extent.show(output, read, |runs| {
        runs.iter().try_for_each(|run| document.add(&json!(run)))
    })?;
    document.end(&[])?;
    Ok(ExitCode::SUCCESS)
}

const COLUMNS: [Column; 6] = [
    Column::id("run"),
    Column::keep("skill"),
    Column::keep("outcome"),
    Column::keep("started"),
    Column::extra("took"),
    Column::extra("cause"),
];

/// Builds the table of one page, with the reason for failed and skipped runs below their rows. Columns are as
/// wide as this page needs; only the first page has a header.
fn list_table(runs: &[ListedRun], app: &App, head: bool) -> Table {
    let table = Table::new(COLUMNS, runs.iter().map(|run| row(run, app)));
    if head { table } else { table.headless() }
}

/// Returns why a run was skipped, failed or did not continue. A row may represent several slots.
fn reason(run: &RunView) -> Option<String> {
    let message = run.error.as_ref()?.message.lines().next()?;
    Some(match run.slot_count {
        0 | 1 => message.to_owned(),
        count => format!("{count} slots: {message}"),
    })
}

/// The word for a run with status `running` that no process drives.
const ABANDONED: &str = "abandoned";

fn row(listed: &ListedRun, app: &App) -> Row {
    let run = &listed.run;
    let outcome = match run.outcome {
        Some(outcome) => Cell::with_tone(outcome.to_string(), run.outcome.into()),
        None if listed.owner_gone => Cell::with_tone(ABANDONED, Tone::Warning),
        None => run.status.to_string().into(),
    };
    let started = run.started_at.unwrap_or(run.admitted_at);
    let took = listed.worked_ms().map(Duration::from_millis);
    let cells = [
        run.id.to_string().into(),
        run.skill.as_str().into(),
        outcome,
        when::short(started, Timestamp::now(), &app.zone).into(),
        took.map_or(String::new(), duration).into(),
        run.cause.as_str().into(),
    ];
    Row::new(cells).with_below(reason(run))
}
