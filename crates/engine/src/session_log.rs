//! The dated log that people read (S3.28): one entry for each run that ended.
//!
//! The log is a convenience. The truth is in the store, so a log that cannot be written is
//! reported and nothing else.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use deft_store::RunRow;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

/// The longest value of an entry; the rest is in the store.
const LONGEST: usize = 200;

pub(crate) fn append(
    folder: &Path,
    zone: &TimeZone,
    at: Timestamp,
    row: &RunRow,
    outcome: &str,
    outputs: &Value,
    error: Option<&str>,
) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let day = at.to_zoned(zone.clone()).date();
    let path = folder.join(format!("{day}.yaml"));
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    // One write, so that entries of several processes do not mix.
    file.write_all(entry(at, row, outcome, outputs, error).as_bytes())
}

fn entry(
    at: Timestamp,
    row: &RunRow,
    outcome: &str,
    outputs: &Value,
    error: Option<&str>,
) -> String {
    let mut text = format!(
        "- action: {}\n  timestamp: \"{at}\"\n  run: {}\n  details: |\n",
        Value::from(format!("Skill: {}", row.skill)),
        row.id
    );
    let inputs = serde_json::from_str(&row.inputs).unwrap_or(Value::Null);
    let mut line = |name: &str, value: &str| {
        text.push_str("    ");
        text.push_str(name);
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
    text
}

fn fields(value: &Value, line: &mut impl FnMut(&str, &str)) {
    let Value::Object(map) = value else {
        return;
    };
    for (name, value) in map {
        match value {
            Value::String(text) => line(name, text),
            other => line(name, &other.to_string()),
        }
    }
}

/// A value on one line, cut where it gets long.
fn clip(value: &str) -> String {
    let masked = deft_workflow::mask(value);
    let value = masked.as_deref().unwrap_or(value);
    let flat: String = value
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(LONGEST)
        .collect();
    if value.chars().count() > LONGEST {
        format!("{flat}…")
    } else {
        flat
    }
}
