//! Parses stored JSON fields into their public types, and masks secrets in values.

use deft_wire::{Done, Failure};
pub(crate) use deft_workflow::mask_value;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Parses a field of a stored row; `what` names the row in errors.
pub(crate) fn read_stored<T: DeserializeOwned>(what: &str, text: &str) -> Done<T> {
    serde_json::from_str(text).map_err(|problem| unreadable(what, &problem))
}

/// Parses a stored word; `what` names the row in errors.
pub(crate) fn read_word<T: DeserializeOwned>(what: &str, word: &str) -> Done<T> {
    serde_json::from_value(Value::from(word)).map_err(|problem| unreadable(what, &problem))
}

fn unreadable(what: &str, problem: &serde_json::Error) -> Failure {
    Failure::internal(
        "store",
        format!("the stored data of {what} cannot be read: {problem}"),
    )
}

/// Replaces secrets in a text by their names.
pub(crate) fn mask_text(text: &mut String) {
    if let Some(masked) = deft_workflow::mask(text) {
        *text = masked;
    }
}
