//! Any text as a template, rendered if it parses.

#![no_main]

use std::sync::{Arc, LazyLock};

use deft_template::{Condition, Lookup, Scope, Template};
use libfuzzer_sys::fuzz_target;

/// Names without an `n` all have the same value, names that begin with `n` are absent, other names unknown.
/// The checked properties hold for any scope.
struct Names;

static VALUE: LazyLock<Lookup> = LazyLock::new(|| {
    let text = "{'a': [1, 2.5, None], 'b': {'c': 'x y'}, 'name': 'é✅', 'items': [{'a': True}]}";
    let value = Condition::parse(text).map(|condition| condition.evaluate(&Names));
    Lookup::Value(Arc::new(value.expect("parses").expect("evaluates")))
});

impl Scope for Names {
    fn get(&self, name: &str) -> Lookup {
        match name.find('n') {
            Some(0) => Lookup::Absent,
            Some(_) => Lookup::Unknown,
            None => VALUE.clone(),
        }
    }

    fn secret(&self, name: &str) -> Option<String> {
        name.starts_with('T').then(|| "⟦secret⟧".to_owned())
    }
}

fuzz_target!(|text: &str| {
    match Template::parse(text) {
        Ok(template) => {
            template.names().iter().for_each(|name| {
                assert!(text.get(name.span.clone()).is_some());
            });
            if let Err(problem) = template.render(&Names) {
                assert!(text.get(problem.span).is_some());
            }
        }
        Err(problem) => assert!(text.get(problem.span).is_some()),
    }
});
