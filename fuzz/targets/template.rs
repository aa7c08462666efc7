//! Any text as a template.

#![no_main]

use deft_template::Template;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Template::parse(text) {
        Ok(template) => template.names().iter().for_each(|name| {
            assert!(text.get(name.span.clone()).is_some());
        }),
        Err(problem) => assert!(text.get(problem.span).is_some()),
    }
});
