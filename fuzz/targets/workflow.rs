//! Any bytes as a YAML workflow.

#![no_main]

use deft_skillfile::FileLocation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let location = FileLocation {
        file: "demo.yaml",
        folder: "skills",
        domain: None,
    };
    deft_fuzz::check(bytes, &location);
});
