//! Fixes for values of simple types: lists of strings, whole numbers, booleans (S0.38, S0.39).

use deft_skillfile::{Shape, record_keys};
use serde_json::{Number, Value};

use super::Draft;
use crate::json;

/// Converts lists sent as one text, or as mappings with a name.
pub(super) fn read(draft: &mut Draft<'_>) {
    let mut notes = Vec::new();
    for key in record_keys(Shape::Texts) {
        let Some(value) = draft.record.get_mut(key) else {
            continue;
        };
        let (list, note) = match value {
            Value::String(text) => (Some(parts(text)), format!("converted {key} to a list")),
            Value::Array(items) => (names(items), format!("cleaned {key}")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => continue,
        };
        if let Some(list) = list.filter(|list| list != value) {
            *value = list;
            notes.push(note);
        }
    }
    draft.applied.extend(notes);
}

fn parts(text: &str) -> Value {
    let bare = json::strip_fence(text).split([',', '\n']);
    let bare = bare.map(|part| json::strip_fence(part.trim_start_matches("- ")));
    let parts = bare.filter(|part| !part.is_empty()).map(Value::from);
    Value::Array(parts.collect())
}

/// Returns the texts of a list without duplicates; `None` if it contains other values.
fn names(items: &[Value]) -> Option<Value> {
    let mut names: Vec<Value> = Vec::new();
    for item in items {
        let name = match item {
            Value::String(text) => json::strip_fence(text),
            Value::Object(object) => ["name", "tool", "toolName", "tool_name"]
                .iter()
                .find_map(|key| object.get(*key)?.as_str())?,
            Value::Null => continue,
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
        };
        let name = Value::from(name.trim());
        if name != "" && !names.contains(&name) {
            names.push(name);
        }
    }
    Some(Value::Array(names))
}

/// Joins instructions sent as a list of sentences.
pub(super) fn prose(draft: &mut Draft<'_>) {
    let Some(Value::Array(lines)) = draft.record.get("instructions") else {
        return;
    };
    let lines: Option<Vec<&str>> = lines.iter().map(Value::as_str).collect();
    if let Some(lines) = lines.filter(|lines| !lines.is_empty()) {
        let text = lines.join("\n");
        draft.record.insert("instructions".to_owned(), text.into());
        draft.note("joined instructions into one string");
    }
}

/// Converts whole numbers sent as text, or as `10.0`.
pub(super) fn counts(draft: &mut Draft<'_>) {
    let mut notes = Vec::new();
    for key in record_keys(Shape::Whole) {
        let Some(value) = draft.record.get_mut(key) else {
            continue;
        };
        let Some(number) = json::number(value).and_then(integer) else {
            continue;
        };
        if *value != Value::Number(number.clone()) {
            *value = Value::Number(number);
            notes.push(format!("converted {key} to a number"));
        }
    }
    draft.applied.extend(notes);
}

fn integer(number: f64) -> Option<Number> {
    let size = json::whole(number.abs()).and_then(|size| i64::try_from(size).ok())?;
    Some(Number::from(if number < 0.0 { -size } else { size }))
}

/// Converts booleans sent as text or as a number.
pub(super) fn truths(draft: &mut Draft<'_>) {
    let mut notes = Vec::new();
    for key in record_keys(Shape::Truth) {
        let Some(value) = draft
            .record
            .get_mut(key)
            .filter(|value| !value.is_boolean())
        else {
            continue;
        };
        if let Some(truth) = truth(value) {
            *value = Value::Bool(truth);
            notes.push(format!("converted {key} to a boolean"));
        }
    }
    draft.applied.extend(notes);
}

/// Parses a boolean, or a word or number that means one.
pub(crate) fn truth(value: &Value) -> Option<bool> {
    if let Value::Bool(truth) = value {
        return Some(*truth);
    }
    match json::text_of_scalar(value)?.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "y" | "enabled" => Some(true),
        "false" | "no" | "off" | "0" | "n" | "disabled" => Some(false),
        _ => None,
    }
}
