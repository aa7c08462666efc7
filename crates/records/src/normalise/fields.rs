//! Fixes for fields at the root of a record: envelopes, alternative names, blank values, JSON in texts.
//!
//! Not here: which fields belong in `trigger_config`, and conversion of values to other types.

use deft_model::Object;
use deft_skillfile::{Shape, record_keys};
use serde_json::Value;

use super::Draft;
use crate::json;
use crate::names::{self, FIELDS, INSTRUCTION_ALIASES, OWN_COLUMNS, RECORD, find_alias, snake};

/// Keys that models wrap around the arguments.
const ENVELOPES: &[&str] = &[
    "skill",
    "record",
    "args",
    "arguments",
    "input",
    "params",
    "parameters",
    "data",
    "changes",
    "updates",
    "fields",
];

/// Unwraps `{"skill": {…}}` and `{"updates": {…}}`.
pub(super) fn unwrap(draft: &mut Draft<'_>) {
    while let Some((key, inner)) = envelope(&draft.record) {
        json::take(&mut draft.record, &key);
        for (name, value) in inner {
            draft.record.entry(name).or_insert(value);
        }
        draft.note(format!("unwrapped {key}"));
    }
}

/// Finds an envelope: the only key, apart from keys that identify the skill to change.
fn envelope(record: &Object) -> Option<(String, Object)> {
    let mut others = record.keys().filter(|key| !is_address(key));
    let (key, None) = (others.next()?, others.next()) else {
        return None;
    };
    let inner = match record.get(key)? {
        Value::Object(inner) => inner.clone(),
        Value::String(text) => json::parse_in_text(text)?.as_object()?.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    let wraps = ENVELOPES.contains(&snake(key).as_str());
    (wraps && !inner.contains_key(key)).then(|| (key.clone(), inner))
}

fn is_address(key: &str) -> bool {
    matches!(
        snake(key).as_str(),
        "id" | "name" | "skill_id" | "record_id"
    )
}

/// Removes columns that only deft may set.
pub(super) fn drop_kept(draft: &mut Draft<'_>) {
    let kept = |key: &&String| OWN_COLUMNS.contains(&snake(key).as_str());
    let kept: Vec<String> = draft.record.keys().filter(kept).cloned().collect();
    for key in kept {
        json::take(&mut draft.record, &key);
        draft.note(format!("left out {key}, which deft sets itself"));
    }
}

/// Renames alternative names and spellings to field names.
pub(super) fn rename(draft: &mut Draft<'_>) {
    let keys: Vec<String> = draft.record.keys().cloned().collect();
    for key in keys {
        let name = snake(&key);
        let own = RECORD
            .iter()
            .map(String::as_str)
            .find(|own| names::alike(own, &name));
        let field = own.or_else(|| find_alias(&name, FIELDS));
        if let Some(field) = field.or_else(|| names::timing(&name)) {
            move_field(draft, &key, field);
        } else if let ("disabled" | "paused", Some(off)) = (name.as_str(), truth(draft, &key)) {
            json::rename(&mut draft.record, &key, "enabled");
            draft.record.insert("enabled".to_owned(), (!off).into());
            draft.note(format!("turned {key} into enabled"));
        }
    }
}

fn truth(draft: &Draft<'_>, key: &str) -> Option<bool> {
    draft.record.get(key).and_then(super::lists::truth)
}

/// Renames a key to its field, unless that would overwrite another value.
fn move_field(draft: &mut Draft<'_>, key: &str, field: &str) {
    if key == field {
        return;
    }
    match draft.record.get(field) {
        Some(Value::Null) => {
            json::take(&mut draft.record, field);
        }
        Some(other) if draft.record.get(key) == Some(other) => {
            json::take(&mut draft.record, key);
            draft.note(format!("left out {key}, which repeats {field}"));
            return;
        }
        Some(_) => return,
        None => {}
    }
    json::rename(&mut draft.record, key, field);
    draft.note(format!("renamed {key} to {field}"));
}

/// Uses prose under another name as the instructions, if there are none.
pub(super) fn find_instructions(draft: &mut Draft<'_>) {
    let given = draft.record.get("instructions");
    if given.is_some_and(|given| !is_blank(given)) {
        return;
    }
    let found = INSTRUCTION_ALIASES.iter().find_map(|prose| {
        let key = draft.record.keys().find(|key| snake(key) == *prose)?;
        let text = draft.record.get(key)?.as_str()?;
        (!text.trim().is_empty()).then(|| key.clone())
    });
    if let Some(key) = found {
        json::take(&mut draft.record, "instructions");
        json::rename(&mut draft.record, &key, "instructions");
        draft.note(format!("renamed {key} to instructions"));
    }
}

/// Whether a value is blank, including words that models use for "nothing".
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => matches!(
            text.trim().to_ascii_lowercase().as_str(),
            "" | "null" | "none" | "undefined" | "n/a" | "nil"
        ),
        Value::Array(items) => items.is_empty(),
        Value::Object(object) => object.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Removes blank fields. Required fields stay, so that `check` reports them; in an update, null stays because
/// it removes a field.
pub(super) fn drop_blanks(draft: &mut Draft<'_>) {
    let changes = draft.changes;
    let blank = |(key, value): (&String, &Value)| {
        let removes = changes && value.is_null();
        let required = matches!(key.as_str(), "name" | "instructions") && !value.is_null();
        (is_blank(value) && !removes && !required).then(|| key.clone())
    };
    let blanks: Vec<String> = draft.record.iter().filter_map(blank).collect();
    for key in blanks {
        json::take(&mut draft.record, &key);
        draft.note(format!("left out {key}, which is empty"));
    }
}

/// Trims texts.
pub(super) fn trim(draft: &mut Draft<'_>) {
    let mut trimmed = Vec::new();
    for (key, value) in &mut draft.record {
        let Value::String(text) = value else { continue };
        if text.trim().len() != text.len() {
            *text = text.trim().to_owned();
            trimmed.push(format!("trimmed {key}"));
        }
    }
    draft.applied.extend(trimmed);
}

/// Whether a field holds a list or a mapping. `trigger` and `schedule` are alternative names for
/// `trigger_config` or hold fields of it.
fn is_structured(key: &str) -> bool {
    let shapes = [Shape::Structure, Shape::Texts];
    matches!(key, "trigger" | "schedule")
        || shapes
            .into_iter()
            .flat_map(record_keys)
            .any(|known| known == key)
}

/// Parses lists and mappings sent as text.
pub(super) fn parse_texts(draft: &mut Draft<'_>) {
    let mut read = Vec::new();
    for (key, value) in &mut draft.record {
        let text = value.as_str().filter(|_| is_structured(key));
        if let Some(held) = text.and_then(json::parse_in_text) {
            *value = held;
            read.push(format!("read {key} from a JSON string"));
        }
    }
    draft.applied.extend(read);
}
