//! A new variant of an enum of ours must not fall into an old `_`: crates that turned the lint on keep
//! it on.

use crate::support::read;

/// The lint, as a crate turns it on. It cannot be on for the workspace before every crate has it.
const LINT: &str = "#![warn(clippy::wildcard_enum_match_arm)]";

/// Crates without a wildcard over an enum of ours.
const CRATES: &[&str] = &[
    "agent",
    "command",
    "compute",
    "llm",
    "model",
    "registry",
    "store",
    "store-testkit",
    "tools",
    "workflow",
];

#[test]
fn enums_are_matched_by_their_variants() {
    for name in CRATES {
        let path = format!("crates/{name}/src/lib.rs");
        assert!(read(&path).contains(LINT), "{path} lacks `{LINT}`");
    }
}
