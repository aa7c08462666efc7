//! Checks that the lint against wildcard arms is on for the whole workspace, so a new variant of one of our
//! enums cannot fall into an old `_`. Few crates turn it off, with a reason.

use crate::support::{files, read, root};

/// Crate roots that turn the lint off for the whole crate. Elsewhere single functions turn it off, for an
/// enum of another crate.
const EXCEPTIONS: &[&str] = &[
    "crates/agent/tests/it/main.rs",
    "crates/cli/tests/it/main.rs",
    "crates/command/tests/it/main.rs",
    "crates/engine/examples/crash_driver/main.rs",
    "crates/engine/tests/it/main.rs",
    "crates/llm/tests/it/main.rs",
    "crates/skillfile/tests/it/main.rs",
    "crates/store/tests/it/main.rs",
    // Values are Python's: an operation refuses every type that it does not name.
    "crates/template/src/lib.rs",
    "crates/tools/tests/it/main.rs",
    // As `template`.
    "crates/values/src/lib.rs",
    "crates/workflow/tests/it/main.rs",
    "tests/seeds/main.rs",
];

#[test]
fn enums_are_matched_by_their_variants() {
    assert!(read("Cargo.toml").contains("\nwildcard_enum_match_arm = \"warn\"\n"));
    let root = root();
    let found: Vec<String> = files("rs")
        .iter()
        .filter(|path| turns_lint_off(&std::fs::read_to_string(path).unwrap()))
        .map(|path| path.strip_prefix(&root).unwrap_or(path))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, EXCEPTIONS);
}

/// Whether the inner attributes of a crate or module name the lint.
fn turns_lint_off(text: &str) -> bool {
    let attributes = text.split("#![").skip(1);
    let mut attributes = attributes.filter_map(|rest| rest.split(")]").next());
    attributes.any(|attribute| attribute.contains(concat!("wildcard_enum_", "match_arm")))
}
