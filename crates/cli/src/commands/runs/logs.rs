//! `deft runs logs`: the events of a run, and on with `-f` until it ends, as lines.

use std::process::ExitCode;
use std::time::Duration;

use deft_model::RunStatus;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::{code_of, find};
use crate::args::Global;
use crate::failure::Done;
use crate::output::Output;
use deft_service::app::{self, App};

/// How often the store is looked at; another process may be driving.
const LOOK: Duration = Duration::from_millis(200);

pub(crate) fn run(id: &str, follow: bool, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let row = find(&app, id)?;
    if output.json && !follow {
        let events = app.block_on(app.engine.public_events(&row, 0));
        let events = events.map_err(|error| app::failure(&error))?;
        output.document(&json!({ "events": events }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut after = 0;
    loop {
        // The row first: what ends the run is then surely among the events.
        let row = find(&app, row.id.as_str())?;
        let events = app.block_on(app.engine.public_events(&row, after));
        for event in events.map_err(|error| app::failure(&error))? {
            after = event["seq"].as_u64().unwrap_or(after).max(after);
            if output.json {
                output.line_of_json(&event)?;
            } else {
                output.data(line(&event, &app.zone))?;
            }
        }
        if !follow || row.status == RunStatus::Done {
            return if follow {
                code_of(&app, &row)
            } else {
                Ok(ExitCode::SUCCESS)
            };
        }
        app.block_on(async { tokio::time::sleep(LOOK).await });
    }
}

/// One event: when, what, where, and what else there is to say.
fn line(event: &Value, zone: &TimeZone) -> String {
    let word = |key: &str| event[key].as_str().unwrap_or_default();
    let at = word("at").parse::<jiff::Timestamp>().map_or_else(
        |_| word("at").to_owned(),
        |at| {
            at.to_zoned(zone.clone())
                .strftime("%H:%M:%S%.3f")
                .to_string()
        },
    );
    let step = word("step_id");
    let known = ["type", "seq", "at", "execution_id", "skill", "step_id"];
    let rest: Vec<String> = event
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| !known.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| format!("{key}={}", clip(value)))
        .collect();
    format!("{at}  {:<22} {step}  {}", word("type"), rest.join(" "))
        .trim_end()
        .to_owned()
}

fn clip(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.replace('\n', " "),
        other => other.to_string(),
    };
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
