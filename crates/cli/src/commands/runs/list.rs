//! `deft runs list`.

use std::mem;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::args::{Global, RunList};
use crate::failure::Done;
use crate::output::{Fit, Output, clip, lines_of};
use crate::pages::{Extent, ListDocument};
use crate::progress::duration;
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
    let mut pages = runs::list(&app, query);
    if output.json {
        return document(&mut pages, args.extent, output);
    }
    let (mut head, mut abandoned) = (true, false);
    let read = |wanted| pages.next(wanted);
    let shown = args.extent.show(output, read, |runs| {
        abandoned |= runs.iter().any(|run| run.owner_gone);
        output.data(listed(&runs, &app, output.width(), mem::take(&mut head)))
    })?;
    if shown == 0 {
        output.note("no runs yet; `deft run NAME` makes one");
    }
    if abandoned {
        output.note(&format!(
            "hint: the process of a run that is `{ABANDONED}` has ended; `deft runs resume ID` or `deft up` continues the run"
        ));
    }
    args.extent.say_rest(output, shown, || pages.count())?;
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

/// What the columns of the list can bear.
const FITS: [Fit; 5] = [Fit::Id, Fit::Cut, Fit::Cut, Fit::Keep, Fit::Keep];

/// A line for each run, and below it why it came to nothing, if it did. Columns are as wide as this
/// page needs them; only the first page has a header.
fn listed(runs: &[ListedRun], app: &App, width: Option<usize>, head: bool) -> String {
    let header = head.then(header);
    let no_reason = header.iter().map(|_| None).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = header
        .into_iter()
        .chain(runs.iter().map(|run| line(run, app)))
        .collect();
    let mut text = String::new();
    let reasons = runs.iter().map(|listed| reason(&listed.run));
    let reasons = no_reason.into_iter().chain(reasons);
    for (line, reason) in lines_of(&lines, &FITS, width).into_iter().zip(reasons) {
        text.push_str(&line);
        if let Some(reason) = reason {
            let reason = clip(&format!("  {reason}"), width.unwrap_or(usize::MAX));
            text.push_str(&format!("{reason}\n"));
        }
    }
    text
}

/// Why a run was passed over, failed, or did not continue; a row may stand for several slots.
fn reason(run: &RunView) -> Option<String> {
    let message = run.error.as_ref()?.message.lines().next()?;
    Some(match run.slot_count {
        0 | 1 => message.to_owned(),
        count => format!("{count} slots: {message}"),
    })
}

fn header() -> Vec<String> {
    ["run", "skill", "outcome", "started", "took", "cause"]
        .map(str::to_owned)
        .to_vec()
}

/// The word for a run whose status is `running` while no process drives it.
const ABANDONED: &str = "abandoned";

fn line(listed: &ListedRun, app: &App) -> Vec<String> {
    let run = &listed.run;
    let outcome = match run.outcome {
        Some(outcome) => outcome.to_string(),
        None if listed.owner_gone => ABANDONED.to_owned(),
        None => run.status.to_string(),
    };
    let started = run.started_at.unwrap_or(run.admitted_at);
    let took = run.duration_ms.map(Duration::from_millis);
    vec![
        run.id.to_string(),
        run.skill.clone(),
        outcome,
        when::short(started, Timestamp::now(), &app.zone),
        took.map_or(String::new(), duration),
        run.cause.clone(),
    ]
}
