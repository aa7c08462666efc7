//! `deft notices …`: messages to people, and whether they arrived.

use std::process::ExitCode;

use deft_store::{NoticeFilter, NoticeRow, NoticeStatus};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::args::{Global, Notices};
use crate::failure::{Done, Failure};
use crate::output::{Fit, Output, counted, table_of};
use crate::pages::{Extent, ListDocument};
use deft_service::app::{self, App};

pub(crate) fn run(command: &Notices, global: &Global, output: &Output) -> Done {
    match command {
        Notices::List { dead, extent } => {
            list(&App::to_read(&global.workspace())?, *dead, *extent, output)
        }
        Notices::Retry { id } => {
            let app = App::without_skills(&global.workspace())?;
            let done = retry(&app, *id, output);
            app.close();
            done
        }
    }
}

fn list(app: &App, dead: bool, extent: Extent, output: &Output) -> Done {
    let filter = NoticeFilter {
        status: dead.then_some(NoticeStatus::Dead),
        ..NoticeFilter::default()
    };
    if output.json {
        let mut document = ListDocument::begin("notices");
        extent.show(output, pages(app, &filter), |rows| {
            rows.iter().try_for_each(|row| document.add(&shown(row)))
        })?;
        document.end(&[])?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut head = Some(["ID", "AT", "STATUS", "SKILL", "TEXT"].map(str::to_owned));
    let count = extent.show(output, pages(app, &filter), |rows| {
        let head = head.take().map(|head| head.to_vec());
        let rows = rows.iter().map(|row| line(row, app));
        let lines: Vec<Vec<String>> = head.into_iter().chain(rows).collect();
        output.data(table_of(&lines, &[Fit::Keep, Fit::Keep], output.width()))
    })?;
    if count == 0 {
        output.note("there are no messages");
    }
    extent.say_rest(output, count, || {
        let all = app.block_on(app.engine.store().count_notices(filter.clone()));
        all.map_err(|error| app::store(&error))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads messages a page at a time.
fn pages(app: &App, filter: &NoticeFilter) -> impl FnMut(u32) -> Done<Vec<NoticeRow>> {
    let mut before = None;
    move |wanted| {
        let filter = NoticeFilter {
            before,
            limit: Some(wanted),
            ..filter.clone()
        };
        let rows = app.block_on(app.engine.store().notices(filter));
        let rows = rows.map_err(|error| app::store(&error))?;
        before = rows.last().map(|row| row.id).or(before);
        Ok(rows)
    }
}

fn shown(row: &NoticeRow) -> Value {
    let body: Value = serde_json::from_str(&row.body).unwrap_or_default();
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    // Messages of the `notify` tool say themselves which run they come from.
    let run = row.run.as_ref().map(deft_model::RunId::as_str);
    json!({
        "id": row.id,
        "run": run.or(body["run"].as_str()),
        "skill": row.skill,
        "notice": body,
        "status": row.status.word(),
        "attempts": row.attempts,
        "receipt": row.receipt,
        "error": row.error,
        "at": row.at.to_string(),
        "next_try_at": time(row.try_at),
        "ended_at": time(row.ended_at),
    })
}

fn line(row: &NoticeRow, app: &App) -> Vec<String> {
    let body: Value = serde_json::from_str(&row.body).unwrap_or_default();
    let mut text = body["text"].as_str().unwrap_or_default().replace('\n', " ");
    if let Some(error) = &row.error {
        text = format!("{text} ({error})");
    }
    vec![
        row.id.to_string(),
        deft_schedule::show(row.at, &app.zone),
        row.status.word().to_owned(),
        row.skill.clone().unwrap_or_default(),
        text,
    ]
}

fn retry(app: &App, id: Option<i64>, output: &Output) -> Done {
    let retried = app.block_on(app.engine.store().retry_notices(id, Timestamp::now()));
    let retried = retried.map_err(|error| app::store(&error))?;
    if let (Some(id), 0) = (id, retried) {
        let message = format!("there is no message {id} that was given up");
        return Err(
            Failure::input("unknown_notice", message).hint("`deft notices list --dead` shows them")
        );
    }
    if output.json {
        output.document(&json!({ "queued": retried }))?;
    } else {
        let count = usize::try_from(retried).unwrap_or(usize::MAX);
        output.data(format!("{} queued again", counted(count, "message")))?;
    }
    Ok(ExitCode::SUCCESS)
}
