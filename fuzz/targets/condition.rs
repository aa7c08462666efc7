//! Any text as a condition, evaluated if it parses.

#![no_main]

use std::sync::{Arc, LazyLock};

use deft_template::{Condition, Lookup, Scope};
use libfuzzer_sys::fuzz_target;

/// Names without an `n` all have the same value, names that begin with `n` are absent, other names unknown.
/// The checked properties hold for any scope.
struct Names;

static VALUE: LazyLock<Lookup> = LazyLock::new(|| {
    let text = "{'a': [1, 2.5, None], 'b': {'c': 'x y'}, 'name': 'é✅', 'items': [{'a': True}]}";
    let value = Condition::parse(text).map(|condition| condition.evaluate(&Names));
    Lookup::Value(Arc::new(value.expect("parses").expect("evaluates")))
});

/// Builtins are not overridden.
const BUILTINS: [&str; 8] = [
    "str", "dict", "all", "repr", "sorted", "map", "zip", "filter",
];

impl Scope for Names {
    fn get(&self, name: &str) -> Lookup {
        match name.find('n') {
            Some(0) => Lookup::Absent,
            None if !BUILTINS.contains(&name) => VALUE.clone(),
            Some(_) | None => Lookup::Unknown,
        }
    }
}

fuzz_target!(|text: &str| {
    match Condition::parse(text) {
        Ok(condition) => {
            condition.names().iter().for_each(|name| {
                assert!(text.get(name.span.clone()).is_some());
            });
            if let Err(problem) = condition.evaluate(&Names) {
                assert!(text.get(problem.span).is_some());
            }
        }
        Err(problem) => assert!(text.get(problem.span).is_some()),
    }
});
