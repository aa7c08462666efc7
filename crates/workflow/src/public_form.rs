//! What the public forms of events share.

use std::time::Duration;

use deft_model::{Failure, Object};
use serde_json::{Value, json};

/// What may be answered to a confirmation.
pub const OPTIONS: [&str; 3] = ["yes", "no", "skip"];

/// A public event of a kind, if its fields are an object.
pub(crate) fn with_fields(kind: &'static str, fields: Value) -> Option<(&'static str, Object)> {
    match fields {
        Value::Object(fields) => Some((kind, fields)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

/// A failure as public events say it.
pub(crate) fn failure(failure: &Failure) -> Value {
    json!({ "class": failure.class, "message": failure.message })
}

/// Milliseconds as the seconds of public events.
pub(crate) fn seconds(ms: u64) -> f64 {
    Duration::from_millis(ms).as_secs_f64()
}
