//! Sizes of values, without serializing them.

use serde_json::Value;

/// Returns the approximate size of a value as JSON, in bytes.
pub fn size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size(item) + 1).sum::<usize>() + 2,
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| key.len() + size(value) + 4);
            entries.sum::<usize>() + 2
        }
    }
}
