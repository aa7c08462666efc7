//! `deft runs list`.

use std::process::ExitCode;
use std::time::Duration;

use deft_engine::run_json;
use deft_model::Choice;
use deft_store::{RunFilter, RunRow};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::app::{self, App};
use crate::args::{Global, RunList};
use crate::failure::Done;
use crate::output::{Output, table};
use crate::progress::duration;

pub(crate) fn run(args: &RunList, global: &Global, output: &Output) -> Done {
    let app = App::without_skills(global)?;
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
        limit: args.limit,
        ..RunFilter::default()
    };
    let rows = app.block_on(app.engine.store().runs(filter));
    let rows = rows.map_err(|error| app::store(&error))?;
    if output.json {
        let runs: Vec<Value> = rows.iter().map(run_json).collect();
        output.document(&json!({ "runs": runs }))?;
    } else if rows.is_empty() {
        output.note("no runs yet; `deft run NAME` makes one");
    } else {
        let lines: Vec<Vec<String>> = std::iter::once(header())
            .chain(rows.iter().map(|row| line(row, &app.zone)))
            .collect();
        output.data(&table(&lines, output.width()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn header() -> Vec<String> {
    ["run", "skill", "outcome", "started", "took", "cause"]
        .map(str::to_owned)
        .to_vec()
}

fn line(row: &RunRow, zone: &TimeZone) -> Vec<String> {
    let outcome = match row.outcome {
        Some(outcome) => outcome.to_string(),
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
    let shown = started.to_zoned(zone.clone());
    vec![
        row.id.to_string(),
        row.skill.clone(),
        outcome,
        shown.strftime("%Y-%m-%d %H:%M:%S %:z").to_string(),
        took,
        row.cause.clone(),
    ]
}
