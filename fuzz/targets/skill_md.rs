//! Any bytes as a `SKILL.md`.

#![no_main]

use deft_skillfile::FileLocation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let location = FileLocation {
        file: "SKILL.md",
        folder: "demo",
        domain: None,
    };
    deft_fuzz::check(bytes, &location);
});
