//! `deft runs prune`: deletes old finished runs.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::{Global, RunPrune};
use crate::confirm;
use crate::failure::{Done, Failure};
use crate::output::{Output, format_count};
use deft_service::runs::{PruneLimit, PruneMode};
use deft_service::{App, runs};
use deft_wire::run::PrunedRuns;

pub(super) fn run(args: &RunPrune, global: &Global, output: &Output) -> Done {
    let app = if args.dry_run {
        App::to_read(&global.workspace())?
    } else {
        App::without_skills(&global.workspace())?
    };
    let before = prune_before(args, &app.zone)?;
    let mode = match (args.dry_run, args.no_trash) {
        (true, _) => PruneMode::DryRun,
        (false, true) => PruneMode::Forever,
        (false, false) => PruneMode::Trash,
    };
    if mode != PruneMode::DryRun && confirm::is_needed(args.yes, global) {
        let found = runs::prune(&app, before, PruneMode::DryRun)?;
        let forever = if args.no_trash { " permanently" } else { "" };
        let question = format!("delete {}{forever}", describe(&found, &app));
        if !found.runs.is_empty() && !confirm::ask(&question) {
            return Ok(confirm::report_refusal(output));
        }
    }
    let pruned = runs::prune(&app, before, mode)?;
    if output.json {
        output.document(&json!(pruned))?;
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if args.dry_run {
        "would delete"
    } else {
        "deleted"
    };
    output.prose(format!("{verb} {}", describe(&pruned, &app)))?;
    if mode == PruneMode::Trash && !pruned.runs.is_empty() {
        output.note(confirm::UNDO);
    }
    Ok(ExitCode::SUCCESS)
}

/// Formats the result: "3 runs of 2 Mar 2026 to 4 Mar 2026 with their 61 events, and 2 expired cached
/// results".
fn describe(pruned: &PrunedRuns, app: &App) -> String {
    let count =
        |number: u64, noun| format_count(usize::try_from(number).unwrap_or(usize::MAX), noun);
    let day = |at: Timestamp| app.zone.to_datetime(at).strftime("%-d %b %Y").to_string();
    let mut text = format_count(pruned.runs.len(), "run");
    match (pruned.oldest.map(day), pruned.newest.map(day)) {
        (Some(oldest), Some(newest)) if oldest != newest => {
            text.push_str(&format!(" of {oldest} to {newest}"));
        }
        (Some(day), _) | (None, Some(day)) => text.push_str(&format!(" of {day}")),
        (None, None) => {}
    }
    if pruned.events > 0 {
        text.push_str(&format!(" with {}", count(pruned.events, "event")));
    }
    if pruned.cached_results > 0 {
        let results = count(pruned.cached_results, "expired cached result");
        text.push_str(&format!(", and {results}"));
    }
    text
}

/// Returns the instant before which finished runs are deleted. clap requires one of the two flags.
fn prune_before(args: &RunPrune, zone: &TimeZone) -> Done<Timestamp> {
    let (flag, limit) = match &args.before {
        Some(text) => ("--before", PruneLimit::Before(text.clone())),
        None => {
            let text = args.older_than.clone().unwrap_or_default();
            ("--older-than", PruneLimit::OlderThan(text))
        }
    };
    limit.instant(zone).map_err(|problem| Failure {
        message: format!("`{flag}`: {}", problem.message),
        ..problem
    })
}
