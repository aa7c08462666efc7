//! The older way to call a skill: `use_skill` with JSON (S2.50).
//!
//! The call is written as a command and read like any other, so both ways end in the same
//! [`Command`](crate::Command), with the same rules and messages.
//!
//! Not here: types. A number becomes the text that a command would have, and is cast later.

use deft_model::{Flag, Object};
use serde_json::Value;

use crate::flags::{is_flag_name, truth};
use crate::problem::{Problem, ProblemKind};
use crate::quote::{join, quote};
use crate::route::{Route, route};
use crate::split::split;
use crate::validate::text;

/// Reads `{"skill": …, "flags": {…}}`; the seeds also call the second `arguments`. Null and an
/// empty list give nothing, as no command could either.
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
        // A program that does not want help may say so.
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
        _ => wrong("the `flags` of the call are not an object"),
    }
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Bool(on) => !on,
        Value::String(text) => truth(text) == Some(false),
        _ => false,
    }
}

/// A flag as it is written behind the name of a skill.
fn flag(name: &str, value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => format!(" --{name}"),
        Value::Array(values) if values.is_empty() => String::new(),
        Value::Array(values) => {
            let words: Vec<String> = values.iter().map(word).collect();
            format!(" --{name} {}", join(words.iter().map(String::as_str)))
        }
        // Only behind `=` does a value reach a flag that stands alone.
        Value::Bool(false) => format!(" --{name}=false"),
        Value::String(text) if truth(text).is_some() => format!(" --{name}={text}"),
        other => format!(" --{name} {}", quote(&word(other))),
    }
}

/// A list inside a list has no other form than JSON.
fn word(value: &Value) -> String {
    match value {
        Value::Array(_) => value.to_string(),
        other => text(other),
    }
}
