//! A skill's fields as the keys and values of a file.

use deft_model::{Object, Skill};
use serde_json::Value;

/// Adds a key unless there is nothing to say.
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

/// Adds a key whenever there is a value, be it an empty one: `[]` as a default
/// is not the same as none.
pub(super) fn put_given(object: &mut Object, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object.insert(key.to_owned(), value);
    }
}

/// When the skill fires, as it was written.
pub(super) fn timing(skill: &Skill, object: &mut Object) {
    if let Some(timing) = &skill.timing {
        put(
            object,
            "trigger_config",
            Value::Object(timing.config.clone()),
        );
    }
}

/// Keys and values of the model as those of a file.
pub(super) fn entries(entries: Vec<(&'static str, Value)>) -> Object {
    let entries = entries.into_iter();
    entries
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}
