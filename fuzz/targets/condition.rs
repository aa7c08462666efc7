//! Any text as a condition.

#![no_main]

use deft_template::Condition;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Condition::parse(text) {
        Ok(condition) => condition.names().iter().for_each(|name| {
            assert!(text.get(name.span.clone()).is_some());
        }),
        Err(problem) => assert!(text.get(problem.span).is_some()),
    }
});
