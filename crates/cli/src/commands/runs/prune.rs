//! `deft runs prune`: deletes what is old and over.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::args::{Global, RunPrune};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted, local};
use deft_service::{App, runs, time};

pub(super) fn run(args: &RunPrune, global: &Global, output: &Output) -> Done {
    let app = if args.dry_run {
        App::to_read(&global.workspace())?
    } else {
        App::without_skills(&global.workspace())?
    };
    let before = before(args, &app.zone)?;
    let pruned = runs::prune(&app, before, args.dry_run)?;
    if output.json {
        output.document(&json!(pruned))?;
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
            counted(count(pruned.cached_results), "cached result"),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs that ended before this are deleted. clap requires one of the two flags.
fn before(args: &RunPrune, zone: &TimeZone) -> Done<Timestamp> {
    let wrong = |flag: &str, problem: Failure| Failure {
        message: format!("`{flag}`: {}", problem.message),
        ..problem
    };
    if let Some(text) = &args.before {
        let before = time::parse_day_or_instant(text, zone);
        return before.map_err(|problem| wrong("--before", problem));
    }
    let text = args.older_than.as_deref().unwrap_or_default();
    let age = time::parse_duration(text).map_err(|problem| wrong("--older-than", problem))?;
    let before = Timestamp::now().checked_sub(age);
    before.map_err(|_| {
        Failure::input("invalid_input", format!("nothing is older than `{text}`"))
            .hint("give a shorter time, such as `30d`")
    })
}
