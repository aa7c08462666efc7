//! Parses the older form of a skill call: `use_skill` with JSON (S2.50).
//!
//! The call is rewritten as a command line and parsed like one, so both forms give the same
//! [`Command`](crate::Command), with the same rules and messages.
//!
//! Not here: types. A number becomes the string that a command line would have, and is cast later.

use deft_model::{Flag, Object};
use serde_json::Value;

use crate::flags::{is_flag_name, truth};
use crate::problem::{Problem, ProblemKind};
use crate::quote::{join, quote};
use crate::route::{Route, route};
use crate::split::split;
use crate::validate::text;

/// Parses `{"skill": …, "flags": {…}}`; the seeds also use the key `arguments` for `flags`. Flags with
/// null or an empty list are dropped, since a command line cannot express them.
pub fn from_json(
    call: &Value,
    table: impl FnOnce(&str) -> Result<Vec<Flag>, Problem>,
) -> Result<Route, Vec<Problem>> {
    let line = write_down(call).map_err(|problem| vec![problem])?;
    match split(&line).into_iter().next() {
        Some(Ok(line)) => route(&line, table),
        Some(Err(problem)) => Err(vec![problem]),
        None => Err(vec![ProblemKind::Empty.into()]),
    }
}

fn write_down(call: &Value) -> Result<String, Problem> {
    let wrong = |reason| ProblemKind::InvalidCall { reason };
    let call = call.as_object().ok_or(wrong("the call is not an object"))?;
    let skill = call.get("skill").and_then(Value::as_str);
    let skill = skill.ok_or(wrong("the call names no `skill`"))?;
    let mut line = quote(skill.trim());
    for (name, value) in flags(call)? {
        let name = name.trim_start_matches("--");
        // A program may set `help` to false.
        if name.eq_ignore_ascii_case("help") && is_off(value) {
            continue;
        }
        if !is_flag_name(name) {
            let word = format!("--{name}");
            return Err(ProblemKind::InvalidFlag { word }.into());
        }
        line.push_str(&flag(name, value));
    }
    Ok(line)
}

fn flags(call: &Object) -> Result<impl Iterator<Item = (&String, &Value)>, Problem> {
    let wrong = |reason| Err(ProblemKind::InvalidCall { reason }.into());
    let flags = match (call.get("flags"), call.get("arguments")) {
        (Some(_), Some(_)) => return wrong("the call has both `flags` and `arguments`"),
        (Some(flags), None) | (None, Some(flags)) => flags,
        (None, None) => &Value::Null,
    };
    match flags {
        Value::Object(flags) => Ok(Some(flags).into_iter().flatten()),
        Value::Null => Ok(None.into_iter().flatten()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            wrong("the `flags` of the call are not an object")
        }
    }
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Bool(on) => !on,
        Value::String(text) => truth(text) == Some(false),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Formats a flag as it is written in a command line, with a leading space.
fn flag(name: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => format!(" --{name}"),
        Value::Array(values) if values.is_empty() => String::new(),
        Value::Array(values) => {
            let words: Vec<String> = values.iter().map(word).collect();
            format!(" --{name} {}", join(words.iter().map(String::as_str)))
        }
        // `--flag=` is the only way to give a value to a presence flag.
        Value::Bool(false) => format!(" --{name}=false"),
        Value::String(text) if truth(text).is_some() => format!(" --{name}={text}"),
        other @ (Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            format!(" --{name} {}", quote(&word(other)))
        }
    }
}

/// Formats one value as a word. A nested list becomes JSON: it has no other form.
fn word(value: &Value) -> String {
    match value {
        Value::Array(_) => value.to_string(),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Object(_)) => text(other),
    }
}
