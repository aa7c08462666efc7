//! Conversions shared by the public forms of events. Everything that a skill, a tool or a model wrote passes
//! through here, so that public events show secrets by name only.

use std::time::Duration;

use deft_model::{Failure, Object};
use deft_wire::event::FailureView;
use serde_json::Value;

use crate::placeholder::{mask, mask_value};

/// Masks secrets in a text.
pub(crate) fn text(text: &str) -> String {
    mask(text).unwrap_or_else(|| text.to_owned())
}

/// Returns a value with secrets masked.
pub(crate) fn value(value: &Value) -> Value {
    let mut shown = value.clone();
    mask_value(&mut shown);
    shown
}

/// Returns named values with secrets masked.
pub(crate) fn object(object: &Object) -> Object {
    let mut shown = object.clone();
    shown.values_mut().for_each(mask_value);
    shown
}

/// Converts a failure to the form of public events.
pub(crate) fn failure(failure: &Failure) -> FailureView {
    FailureView {
        class: failure.class,
        message: text(&failure.message),
    }
}

/// Converts milliseconds to the seconds of public events.
pub(crate) fn seconds(ms: u64) -> f64 {
    Duration::from_millis(ms).as_secs_f64()
}
