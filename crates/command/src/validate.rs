//! Helpers for handlers that check their own flags (S2.43).
//!
//! Each checks or changes one flag and ignores a flag that was not given. Not here: the man page of the
//! skill, which [`check`](crate::check()) reads.

use deft_model::Object;
use jiff::civil::Date;
use serde_json::Value;

use crate::problem::{Problem, ProblemKind};

/// Checks that all flags in `names` are given.
pub fn require(flags: &Object, names: &[&str]) -> Result<(), Problem> {
    let missing = names.iter().filter(|name| !flags.contains_key(**name));
    let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(ProblemKind::MissingFlags { flags: missing }.into())
    }
}

/// Checks that a flag, or each value of its list, is in `allowed`.
pub fn validate_enum(
    flags: &Object,
    name: &str,
    allowed: &[impl AsRef<str>],
) -> Result<(), Problem> {
    let fits = |value: &Value| {
        let value = text(value);
        allowed.iter().any(|word| word.as_ref() == value)
    };
    let allowed_words = || {
        allowed
            .iter()
            .map(|word| word.as_ref().to_owned())
            .collect()
    };
    match flags.get(name) {
        None => Ok(()),
        Some(Value::Array(values)) => {
            let strangers = values.iter().filter(|value| !fits(value));
            let values: Vec<String> = strangers.map(text).collect();
            if values.is_empty() {
                return Ok(());
            }
            Err(ProblemKind::InvalidValues {
                flag: name.to_owned(),
                values,
                allowed: allowed_words(),
            }
            .into())
        }
        Some(value) if fits(value) => Ok(()),
        Some(value) => Err(ProblemKind::InvalidValue {
            flag: name.to_owned(),
            value: text(value),
            allowed: allowed_words(),
        }
        .into()),
    }
}

/// Parses a flag's value as a date.
pub(crate) fn date(flag: &str, value: &Value) -> Result<Date, Problem> {
    let date = value.as_str().filter(|text| is_dashed(text));
    let date = date.and_then(|text| text.parse::<Date>().ok());
    date.ok_or_else(|| invalid_type(flag, value, "date (YYYY-MM-DD)"))
}

/// Whether `text` has the form YYYY-MM-DD: jiff's parser would also accept a time, and drop it.
fn is_dashed(text: &str) -> bool {
    let form = |(at, c): (usize, u8)| match at {
        4 | 7 => c == b'-',
        _ => c.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(form)
}

/// Sets flags that were not given to their defaults.
pub fn apply_defaults(flags: &mut Object, defaults: &Object) {
    for (name, value) in defaults {
        flags.entry(name).or_insert_with(|| value.clone());
    }
}

/// Returns the problem of a value with the wrong type.
pub(crate) fn invalid_type(flag: &str, value: &Value, expected: &str) -> Problem {
    ProblemKind::InvalidType {
        flag: flag.to_owned(),
        value: text(value),
        expected: expected.to_owned(),
    }
    .into()
}

/// Formats a value as it would be written in a command.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => {
            let words: Vec<String> = values.iter().map(text).collect();
            words.join(" ")
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            other.to_string()
        }
    }
}
