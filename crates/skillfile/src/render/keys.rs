//! Conversion of a skill's fields to the keys and values of a file.

use deft_model::{Object, Skill};
use serde_json::Value;

/// Adds a key unless its value is empty.
pub(super) fn put(object: &mut Object, key: &str, value: impl Into<Value>) {
    let value = value.into();
    let empty = match &value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if !empty {
        object.insert(key.to_owned(), value);
    }
}

/// Adds a key if there is a value, even an empty one: `[]` as a default differs from no default.
pub(super) fn put_given(object: &mut Object, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value);
    }
}

/// Adds the trigger configuration as it was written.
pub(super) fn timing(skill: &Skill, object: &mut Object) {
    if let Some(timing) = &skill.timing {
        put(
            object,
            "trigger_config",
            Value::Object(timing.config.clone()),
        );
    }
}

/// Converts keys and values of the model to an object.
pub(super) fn entries(entries: Vec<(&'static str, Value)>) -> Object {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
