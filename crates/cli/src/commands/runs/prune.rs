//! `deft runs prune`: deletes what is old and over.

use std::process::ExitCode;

use deft_model::RunId;
use deft_schedule::{parse_at, parse_duration};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::{Global, RunPrune};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted, local};
use deft_service::app::{self, App};

pub(super) fn run(args: &RunPrune, global: &Global, output: &Output) -> Done {
    let app = if args.dry_run {
        App::to_read(&global.workspace())?
    } else {
        App::without_skills(&global.workspace())?
    };
    let before = before(args, &app.zone)?;
    let pruned = app.block_on(app.engine.prune(before, args.dry_run));
    let pruned = pruned.map_err(|error| app::failure(&error))?;
    if output.json {
        let runs: Vec<&str> = pruned.runs.iter().map(RunId::as_str).collect();
        output.document(&json!({
            "ok": true,
            "dry_run": args.dry_run,
            "before": deft_schedule::show(before, &app.zone),
            "runs": runs,
            "events": pruned.events,
            "cached_results": pruned.results,
        }))?;
    } else {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        output.data(format!(
            "{}{} that ended before {}, with {}; {} that expired",
            if args.dry_run {
                "would delete "
            } else {
                "deleted "
            },
            counted(pruned.runs.len(), "run"),
            local(before, &app.zone),
            counted(count(pruned.events), "event"),
            counted(count(pruned.results), "cached result"),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs that ended before this go. clap sees to it that one of the two is given.
fn before(args: &RunPrune, zone: &TimeZone) -> Done<Timestamp> {
    let wrong = |flag: &str, problem: deft_schedule::Error| {
        Failure::input("invalid_input", format!("`{flag}`: {}", problem.message))
            .maybe_hint(problem.hint)
    };
    if let Some(text) = &args.before {
        let is_date = text.parse::<Date>().is_ok() && !text.contains(['T', 't', ' ']);
        // A day begins at midnight.
        let text = if is_date {
            format!("{text}T00:00")
        } else {
            text.clone()
        };
        return parse_at(&text, zone).map_err(|problem| wrong("--before", problem));
    }
    let text = args.older_than.as_deref().unwrap_or_default();
    let age = parse_duration(text).map_err(|problem| wrong("--older-than", problem))?;
    let before = Timestamp::now().checked_sub(age);
    before.map_err(|_| {
        Failure::input("invalid_input", format!("nothing is older than `{text}`"))
            .hint("give a shorter time, such as `30d`")
    })
}
