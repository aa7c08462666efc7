//! Any bytes as a record.

#![no_main]

use deft_skillfile::FileLocation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let location = FileLocation {
        file: "record.json",
        folder: "skills",
        domain: None,
    };
    deft_fuzz::check(bytes, &location);
});
