//! What the public forms of events share. Everything that a skill, a tool or a model wrote passes
//! through here, so a public event shows secrets by name only.

use std::time::Duration;

use deft_model::{Failure, Object};
use deft_wire::event::FailureView;
use serde_json::Value;

use crate::placeholder::{mask, mask_value};

/// A text as people may see it.
pub(crate) fn text(text: &str) -> String {
    mask(text).unwrap_or_else(|| text.to_owned())
}

/// A value as people may see it.
pub(crate) fn value(value: &Value) -> Value {
    let mut shown = value.clone();
    mask_value(&mut shown);
    shown
}

/// Named values as people may see them.
pub(crate) fn object(object: &Object) -> Object {
    let mut shown = object.clone();
    shown.values_mut().for_each(mask_value);
    shown
}

/// A failure as public events show it.
pub(crate) fn failure(failure: &Failure) -> FailureView {
    FailureView {
        class: failure.class,
        message: text(&failure.message),
    }
}

/// Milliseconds as the seconds of public events.
pub(crate) fn seconds(ms: u64) -> f64 {
    Duration::from_millis(ms).as_secs_f64()
}
