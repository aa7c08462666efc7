//! `deft notices …`: messages to people, and whether they arrived.

use std::process::ExitCode;

use serde_json::json;

use crate::args::{Global, Notices};
use crate::failure::Done;
use crate::output::{Fit, Output, counted, table_of};
use crate::pages::{Extent, ListDocument};
use deft_service::{App, notices, time};
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
    let mut head = Some(["ID", "AT", "STATUS", "SKILL", "TEXT"].map(str::to_owned));
    let read = |wanted| pages.next(wanted);
    let count = extent.show(output, read, |notices| {
        let head = head.take().map(|head| head.to_vec());
        let rows = notices.iter().map(|notice| line(notice, app));
        let lines: Vec<Vec<String>> = head.into_iter().chain(rows).collect();
        output.data(table_of(&lines, &[Fit::Keep, Fit::Keep], output.width()))
    })?;
    if count == 0 {
        output.note("no messages");
    }
    extent.say_rest(output, count, || pages.count())?;
    Ok(ExitCode::SUCCESS)
}

fn line(notice: &NoticeView, app: &App) -> Vec<String> {
    let mut text = notice.notice.text.replace('\n', " ");
    if let Some(error) = &notice.error {
        text = format!("{text} ({error})");
    }
    vec![
        notice.id.to_string(),
        time::show(notice.at, &app.zone),
        notice.status.word().to_owned(),
        notice.skill.clone().unwrap_or_default(),
        text,
    ]
}

fn retry(app: &App, id: Option<&str>, output: &Output) -> Done {
    let retried = notices::retry(app, id)?;
    if output.json {
        output.document(&json!(retried))?;
    } else {
        let count = usize::try_from(retried.queued).unwrap_or(usize::MAX);
        output.data(format!("{} queued again", counted(count, "message")))?;
    }
    Ok(ExitCode::SUCCESS)
}
