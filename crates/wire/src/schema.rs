//! Schemas of types that other crates define.

use deft_model::Choice;
use schemars::{Schema, SchemaGenerator, json_schema};

/// A word of a closed set.
pub(crate) fn words<T: Choice>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "enum": list::<T>() })
}

/// A word of a closed set, or null.
pub(crate) fn words_or_null<T: Choice>(_: &mut SchemaGenerator) -> Schema {
    let words = list::<T>().into_iter().map(Some);
    json_schema!({ "enum": words.chain([None]).collect::<Vec<_>>() })
}

/// A list of words of a closed set.
pub(crate) fn list_of_words<T: Choice>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": { "enum": list::<T>() } })
}

/// An instant, in RFC 3339.
pub(crate) fn instant(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// A length of time, in seconds.
pub(crate) fn seconds(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "number", "minimum": 0, "description": "Seconds." })
}

fn list<T: Choice>() -> Vec<&'static str> {
    T::WORDS.iter().map(|(word, _)| *word).collect()
}
