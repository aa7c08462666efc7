//! `deft runs logs`: prints the events of a run as lines; with `-f` until the run ends.

use std::process::ExitCode;
use std::time::Duration;

use jiff::tz::TimeZone;
use serde_json::json;

use super::super::run::exit_code;
use crate::args::Global;
use crate::failure::Done;
use crate::output::Output;
use deft_service::App;
use deft_service::runs::{self, EventStream};
use deft_wire::event::EventView;
use deft_wire::model::clip_value;
use deft_wire::run::EventList;

/// The interval at which to read the store; another process may drive the run.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Fields common to all events. They are not printed among the other fields.
const COMMON: [&str; 6] = ["type", "seq", "at", "execution_id", "skill", "step_id"];

pub(crate) fn run(id: &str, follow: bool, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    if output.json && !follow {
        let events = runs::events(&app, id)?;
        output.document(&json!(EventList { events }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut stream = EventStream::open(&app, id)?;
    loop {
        let new = stream.read_new()?;
        for event in &new.events {
            if output.json {
                output.line_of_json(&json!(event))?;
            } else {
                output.prose(line(event, &app.zone))?;
            }
        }
        if !follow {
            return Ok(ExitCode::SUCCESS);
        }
        if new.over {
            return Ok(exit_code(&runs::detail(&app, stream.run().as_str())?));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Maximum number of characters of a field.
const VALUE: usize = 120;

/// Formats an event: its time, type and step, then its other fields.
fn line(event: &EventView, zone: &TimeZone) -> String {
    let at = event.at.to_zoned(zone.clone());
    let at = at.strftime("%H:%M:%S%.3f").to_string();
    let shown = json!(event);
    let word = |key: &str| shown[key].as_str().unwrap_or_default();
    let rest: Vec<String> = shown
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, value)| !COMMON.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| format!("{key}={}", clip_value(value, VALUE)))
        .collect();
    format!(
        "{at}  {:<22} {}  {}",
        word("type"),
        word("step_id"),
        rest.join(" ")
    )
    .trim_end()
    .to_owned()
}
