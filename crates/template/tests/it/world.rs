//! A scope for tests: names from a JSON object, one secret, and steps without a value.

use std::path::Path;
use std::sync::Arc;

use deft_template::{Lookup, Member, Scope};
use serde_json::Value;

pub(crate) struct World(pub(crate) Value);

impl Scope for World {
    fn get(&self, name: &str) -> Lookup {
        match self.0.get(name) {
            Some(value) => Lookup::Value(Arc::new(value.clone())),
            None if name.starts_with("absent") => Lookup::Absent,
            None => Lookup::Unknown,
        }
    }

    fn member(&self, name: &str, member: &str) -> Member {
        match (name, member) {
            ("inputs", member) if member.starts_with("absent") => Member::Absent,
            ("text" | "nums", "result") => Member::Itself,
            _ => Member::Held,
        }
    }

    fn secret(&self, name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "⟦TOKEN⟧".to_owned())
    }
}

/// Returns the names that all recordings were made with.
pub(crate) fn context() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/evaluate/context.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}
