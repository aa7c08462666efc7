//! JSON Schemas for types of other crates.

use deft_model::Choice;
use schemars::{Schema, SchemaGenerator, json_schema};

/// Schema of a word from a closed set.
pub(crate) fn words<T: Choice>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": list::<T>() })
}

/// Schema of a word from a closed set, or null.
pub(crate) fn words_or_null<T: Choice>(_: &mut SchemaGenerator) -> Schema {
    let words = list::<T>().into_iter().map(Some);
    json_schema!({ "enum": words.chain([None]).collect::<Vec<_>>() })
}

/// Schema of a list of words from a closed set.
pub(crate) fn list_of_words<T: Choice>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "enum": list::<T>() } })
}

/// Schema of an instant in RFC 3339 format.
pub(crate) fn instant(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// Schema of a duration in seconds.
pub(crate) fn seconds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "number", "minimum": 0, "description": "Seconds." })
}

fn list<T: Choice>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}
