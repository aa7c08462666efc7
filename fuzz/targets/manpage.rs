//! Any bytes as a man page.

#![no_main]

use deft_skillfile::FileLocation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let location = FileLocation {
        file: "send.md",
        folder: "email",
        domain: Some("email"),
    };
    deft_fuzz::check(bytes, &location);
});
