//! Checks that only one module writes to stdout and stderr, and only one opens files (refusing pipes and
//! devices).
//!
//! `clippy.toml` forbids the handles of stdout and stderr by type; this module finds what clippy cannot see.

use std::path::Path;

use crate::support::{files, root};

/// Files that write to stdout or stderr directly, and why.
const WRITERS: &[(&str, &str)] = &[
    ("crates/cli/src/terminal/mod.rs", "the one door"),
    (
        "crates/compute/src/worker/mod.rs",
        "the worker's stderr is a pipe that deft reads",
    ),
    (
        "crates/compute/src/worker/child.rs",
        "the worker's stderr is a pipe that deft reads",
    ),
];

/// Files that open files directly, and why; all others use `crates/registry/src/file.rs`.
const READERS: &[(&str, &str)] = &[
    (
        "crates/config/src/zone.rs",
        "`/etc/timezone` is the system's",
    ),
    (
        "crates/service/src/daemon/footprint.rs",
        "`/proc/self/maps` of this process",
    ),
    (
        "crates/tools/src/process/proc.rs",
        "process tables in `/proc`",
    ),
    (
        "crates/compute/src/worker/sandbox.rs",
        "`/proc/self/statm` of this process",
    ),
    ("crates/engine/src/owner.rs", "the boot id of the kernel"),
    (
        "crates/store/src/sqlite/overwrite.rs",
        "the index of the log, through a handle that is never closed",
    ),
    (
        "crates/config/src/folders.rs",
        "the folder of the home, as a lock",
    ),
];

/// Returns the product sources without their test modules, except crates that only tests use.
fn sources() -> Vec<(String, String)> {
    let root = root();
    let is_source = |path: &str| {
        path.starts_with("crates/")
            && path.contains("/src/")
            && !path.starts_with("crates/testkit/")
            && !path.ends_with("tests.rs")
            && !path.starts_with("crates/store-testkit/")
    };
    files("rs")
        .iter()
        .map(|path| (display_path(path, &root), path))
        .filter(|(name, _)| is_source(name))
        .map(|(name, path)| {
            let text = std::fs::read_to_string(path).unwrap();
            let end = ["#[cfg(test)]\nmod", "#[cfg(all(test"]
                .iter()
                .filter_map(|mark| text.find(mark))
                .min();
            (name, text[..end.unwrap_or(text.len())].to_owned())
        })
        .collect()
}

fn display_path(path: &Path, root: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    below.to_string_lossy().into_owned()
}

/// Checks that exactly the files in `known` contain one of the words.
fn compare(words: &[&str], known: &[(&str, &str)], remedy: &str) {
    let mut found: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| words.iter().any(|word| has_word(text, word)))
        .map(|(name, _)| name)
        .collect();
    let mut known: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    found.sort();
    known.sort_unstable();
    assert_eq!(found, known, "{remedy}");
}

/// Whether a text contains `word`, not only as the end of a longer word.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(inside))
}

#[test]
fn text_reaches_people_through_one_module() {
    let words = [
        "io::stdout()",
        "io::stderr()",
        "stdio::stdout()",
        "stdio::stderr()",
        concat!("print", "ln!("),
        concat!("eprint", "!("),
        concat!("print", "!("),
        "/dev/tty",
    ];
    compare(&words, WRITERS, "write through `crates/cli/src/terminal`");
}

#[test]
fn files_are_opened_by_one_module() {
    let words = [
        "fs::read(",
        "fs::read_to_string(",
        "File::open(",
        "fs::copy(",
    ];
    let remedy = "use `read_regular`, `read_text` or `open_regular` of `deft_registry`";
    compare(&words, READERS, remedy);
}
