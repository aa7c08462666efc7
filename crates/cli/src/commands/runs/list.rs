//! `deft runs list`.

use std::mem;
use std::process::ExitCode;
use std::time::Duration;

use deft_engine::run_json;
use deft_model::Choice;
use deft_store::{RunFilter, RunRow};

use super::mark_abandoned;
use crate::args::{Global, RunList};
use crate::failure::Done;
use crate::output::{Fit, Output, clip, lines_of, local};
use crate::pages::{Extent, ListDocument};
use crate::progress::duration;
use deft_service::app::{self, App};

pub(crate) fn run(args: &RunList, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let filter = RunFilter {
        skill: args.skill.clone(),
        statuses: args
            .status
            .as_deref()
            .and_then(Choice::from_word)
            .into_iter()
            .collect(),
        outcomes: args
            .outcome
            .as_deref()
            .and_then(Choice::from_word)
            .into_iter()
            .collect(),
        ..RunFilter::default()
    };
    if output.json {
        return document(&app, args.extent, &filter, output);
    }
    let (mut head, mut abandoned) = (true, false);
    let shown = args.extent.show(output, pages(&app, &filter), |rows| {
        abandoned |= rows.iter().any(|row| app.engine.is_abandoned(row));
        output.data(listed(&rows, &app, output.width(), mem::take(&mut head)))
    })?;
    if shown == 0 {
        output.note("no runs yet; `deft run NAME` makes one");
    }
    if abandoned {
        output.note(&format!(
            "hint: the process of a run that is `{ABANDONED}` is gone; `deft runs resume ID` or `deft up` goes on"
        ));
    }
    let count = || {
        let count = app.block_on(app.engine.store().count_runs(filter.clone()));
        count.map_err(|error| app::store(&error))
    };
    args.extent.say_rest(output, shown, count)?;
    Ok(ExitCode::SUCCESS)
}

fn document(app: &App, extent: Extent, filter: &RunFilter, output: &Output) -> Done {
    let mut document = ListDocument::begin("runs");
    extent.show(output, pages(app, filter), |rows| {
        rows.iter().try_for_each(|row| {
            let mut run = run_json(row);
            mark_abandoned(app, row, &mut run);
            document.add(&run)
        })
    })?;
    document.end(&[])?;
    Ok(ExitCode::SUCCESS)
}

/// Reads runs a page at a time.
pub(crate) fn pages(app: &App, filter: &RunFilter) -> impl FnMut(u32) -> Done<Vec<RunRow>> {
    let mut end = None;
    move |wanted| {
        let filter = RunFilter {
            limit: Some(wanted),
            ..filter.clone()
        };
        let page = app.block_on(app.engine.store().run_page(filter, end));
        let page = page.map_err(|error| app::store(&error))?;
        end = page.end.or(end);
        Ok(page.runs)
    }
}

/// What the columns of the list can bear.
const FITS: [Fit; 5] = [Fit::Id, Fit::Cut, Fit::Cut, Fit::Keep, Fit::Keep];

/// A line for each run, and below it why it came to nothing, if it did. Columns are as wide as this
/// page needs them; only the first page has a header.
fn listed(rows: &[RunRow], app: &App, width: Option<usize>, head: bool) -> String {
    let header = head.then(header);
    let no_reason = header.iter().map(|_| None).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = header
        .into_iter()
        .chain(rows.iter().map(|row| line(row, app)))
        .collect();
    let mut text = String::new();
    let reasons = no_reason.into_iter().chain(rows.iter().map(reason));
    for (line, reason) in lines_of(&lines, &FITS, width).into_iter().zip(reasons) {
        text.push_str(&line);
        if let Some(reason) = reason {
            let reason = clip(&format!("  {reason}"), width.unwrap_or(usize::MAX));
            text.push_str(&format!("{reason}\n"));
        }
    }
    text
}

/// Why a run was passed over, failed, or did not go on; a row may stand for several slots.
fn reason(row: &RunRow) -> Option<String> {
    let shown = run_json(row);
    let message = shown["error"]["message"].as_str()?.lines().next()?;
    Some(match row.slot_count {
        0 | 1 => message.to_owned(),
        count => format!("{count} slots: {message}"),
    })
}

fn header() -> Vec<String> {
    ["run", "skill", "outcome", "started", "took", "cause"]
        .map(str::to_owned)
        .to_vec()
}

/// The word for a run that says it is running while nobody drives it.
const ABANDONED: &str = "abandoned";

fn line(row: &RunRow, app: &App) -> Vec<String> {
    let outcome = match row.outcome {
        Some(outcome) => outcome.to_string(),
        None if app.engine.is_abandoned(row) => ABANDONED.to_owned(),
        None => row.status.to_string(),
    };
    let started = row.started_at.unwrap_or(row.admitted_at);
    let took = match (row.started_at, row.finished_at) {
        (Some(started), Some(finished)) => {
            let ms = finished.as_millisecond() - started.as_millisecond();
            duration(Duration::from_millis(ms.try_into().unwrap_or(0)))
        }
        _ => String::new(),
    };
    vec![
        row.id.to_string(),
        row.skill.clone(),
        outcome,
        local(started, &app.zone),
        took,
        row.cause.clone(),
    ]
}
