//! The dated session log for people (S3.28): one entry for each run that ended.
//!
//! The log is only a convenience, because the store has all data. So a log that cannot be written is
//! reported, and has no further effect.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Duration;

use deft_base::run_inputs;
use deft_model::{visible, visible_json};
use deft_store::RunRow;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::Value;

/// Maximum number of characters of a value; the store has the full value.
const MAX_VALUE_CHARS: usize = 200;

/// Maximum number of inputs and of outputs in an entry.
const MAX_FIELDS: usize = 50;

/// The folder and zone of the log, and the maximum age of its files.
pub(crate) struct LogSettings<'a> {
    pub folder: &'a Path,
    pub zone: &'a TimeZone,
    pub max_age: Option<Duration>,
}

pub(crate) fn append(
    settings: &LogSettings<'_>,
    at: Timestamp,
    row: &RunRow,
    outcome: &str,
    outputs: &Value,
    error: Option<&str>,
) -> io::Result<()> {
    let entry = entry(at, row, outcome, outputs, error)?;
    let mut file = open(settings, at.to_zoned(settings.zone.clone()).date())?;
    // A single write, so that entries of several processes do not mix.
    file.write_all(entry.as_bytes())
}

/// Opens the file of a day. Usually it exists, so that nothing else has to be done.
fn open(settings: &LogSettings<'_>, day: Date) -> io::Result<File> {
    let path = settings.folder.join(format!("{day}.yaml"));
    let mut how = OpenOptions::new();
    how.append(true);
    match how.open(&path) {
        Err(problem) if problem.kind() == ErrorKind::NotFound => {
            fs::create_dir_all(settings.folder)?;
            remove_old(settings, day);
            how.create(true).open(&path)
        }
        opened => opened,
    }
}

/// Removes the files of days that are too old. A failed removal is retried on the next day; files with other
/// names are left untouched.
fn remove_old(settings: &LogSettings<'_>, today: Date) {
    let Some(max_age) = settings.max_age else {
        return;
    };
    let day_of = |name: &str| name.strip_suffix(".yaml")?.parse::<Date>().ok();
    for entry in fs::read_dir(settings.folder)
        .into_iter()
        .flatten()
        .flatten()
    {
        let day = entry.file_name().to_str().and_then(day_of);
        let age = day.map(|day| today.duration_since(day));
        if age.is_some_and(|age| age.is_positive() && age.unsigned_abs() > max_age) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn entry(
    at: Timestamp,
    row: &RunRow,
    outcome: &str,
    outputs: &Value,
    error: Option<&str>,
) -> io::Result<String> {
    let inputs = run_inputs(row).map_err(io::Error::other)?;
    let mut text = format!(
        "- action: {}\n  timestamp: \"{at}\"\n  run: {}\n  details: |\n",
        visible_json(&Value::from(format!("Skill: {}", row.skill)).to_string()),
        row.id
    );
    let mut line = |name: &str, value: &str| {
        text.push_str("    ");
        text.push_str(&clip(name));
        text.push_str(": ");
        text.push_str(&clip(value));
        text.push('\n');
    };
    fields(&inputs, &mut line);
    line("result", outcome);
    if let Some(error) = error {
        line("error", error);
    }
    fields(outputs, &mut line);
    Ok(text)
}

fn fields(value: &Value, line: &mut impl FnMut(&str, &str)) {
    let Value::Object(map) = value else {
        return;
    };
    for (name, value) in map.iter().take(MAX_FIELDS) {
        match value {
            Value::String(text) => line(name, text),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_)) => line(name, &other.to_string()),
        }
    }
}

/// Formats a value on one line, shortened to the maximum length.
fn clip(value: &str) -> String {
    let masked = deft_workflow::mask(value);
    let value = masked.as_deref().unwrap_or(value);
    let flat: String = value
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    visible(&deft_model::clip(&flat, MAX_VALUE_CHARS))
}
