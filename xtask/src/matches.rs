//! Checks that the lint against wildcard arms is on for the whole workspace, so a new variant of one of our
//! enums cannot fall into an old `_`. Few crates turn it off, with a reason.

use crate::support::{files, read, root};

const LINT: &str = concat!("wildcard_enum_", "match_arm");

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

/// Files with functions that turn the lint off, and the crate whose enums they match. An enum of ours is
/// never matched like that.
const FOREIGN: &[(&str, &str)] = &[
    ("crates/cli/src/commands/run.rs", "std::io"),
    (
        "crates/compute/src/worker/python/growing.rs",
        "rustpython_vm",
    ),
    ("crates/compute/src/worker/python/yaml.rs", "granit_parser"),
    ("crates/server/src/mcp/complete.rs", "rmcp"),
    ("crates/server/src/mcp/relay/forward.rs", "rmcp"),
    ("crates/server/src/mcp/relay/parked.rs", "rmcp"),
    ("crates/server/src/mcp/relay/retry.rs", "rmcp"),
    ("crates/server/src/mcp/relay/side.rs", "rmcp"),
    ("crates/skillfile/src/compute.rs", "ruff_python_parser"),
    ("crates/skillfile/src/markdown.rs", "pulldown_cmark"),
    ("crates/skillfile/src/python_members.rs", "ruff_python_ast"),
    ("crates/skillfile/src/python_names.rs", "ruff_python_ast"),
    ("crates/skillfile/src/yaml/build.rs", "granit_parser"),
    ("crates/store/src/sqlite/damage.rs", "rusqlite"),
    ("crates/tools/src/arguments/check.rs", "jsonschema"),
    ("crates/tools/src/builtin/folder.rs", "std::io"),
    ("crates/tools/src/server/access/sign_in.rs", "rmcp"),
    ("crates/tools/src/server/authorized.rs", "rmcp"),
    ("crates/tools/src/server/call.rs", "rmcp"),
    ("crates/tools/src/server/desk.rs", "rmcp"),
    ("crates/tools/src/server/fault.rs", "rmcp"),
    ("crates/tools/src/server/guard.rs", "rmcp"),
    ("crates/tools/src/server/listing.rs", "rmcp"),
    ("crates/tools/src/server/relay.rs", "rmcp"),
    ("crates/tools/src/server/skills.rs", "rmcp"),
];

#[test]
fn functions_turn_the_lint_off_for_enums_of_other_crates() {
    let root = root();
    let mut found = Vec::new();
    for path in files("rs") {
        let text = std::fs::read_to_string(&path).unwrap();
        let shown = path.strip_prefix(&root).unwrap_or(&path);
        let shown = shown.to_string_lossy().into_owned();
        if shown.contains("/src/") && !turns_lint_off(&text) && text.contains(LINT) {
            found.push((shown, text));
        }
    }
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    let known: Vec<&str> = FOREIGN.iter().map(|(path, _)| *path).collect();
    assert_eq!(paths, known);
    for ((path, text), (_, foreign)) in found.iter().zip(FOREIGN) {
        assert!(text.contains(foreign), "{path} does not use `{foreign}`");
    }
}

#[test]
fn enums_are_matched_by_their_variants() {
    let line = format!("\n{LINT} = \"warn\"\n");
    assert!(read("Cargo.toml").contains(&line));
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
    attributes.any(|attribute| attribute.contains(LINT))
}
