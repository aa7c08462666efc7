//! Checks that later stable compilers can build the workspace.
//!
//! No other compiler is available to try, so these tests look for what would break one: a package that
//! requires a newer compiler than named here, a nightly feature, a denied lint group, which grows with each
//! release, and a file that pins a compiler.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::root;

/// The newest compiler that packages in the lock file require, and those packages. README.md names the
/// version too.
const NEWEST: Version = (1, 96, 0);
const NEWEST_ASKED_BY: &[&str] = &[
    "rustpython-ruff_python_ast",
    "rustpython-ruff_python_parser",
    "rustpython-ruff_python_trivia",
    "rustpython-ruff_source_file",
    "rustpython-ruff_text_size",
];

/// Code and flags that require a nightly compiler.
const NIGHTLY: &[&str] = &[
    "#![feature(",
    "#![cfg_attr(nightly",
    "RUSTC_BOOTSTRAP",
    "cargo-features",
    "cargo +nightly",
    " -Z",
    "\"-Z",
    "[unstable]",
];

/// Lint groups that gain lints with new compilers. If a group is denied, each new lint is an error.
const GROUPS: &[&str] = &[
    "warnings",
    "unused",
    "future_incompatible",
    "future-incompatible",
    "nonstandard_style",
    "nonstandard-style",
    "let_underscore",
    "rust_2024_compatibility",
    "all",
    "cargo",
    "complexity",
    "correctness",
    "nursery",
    "pedantic",
    "perf",
    "restriction",
    "style",
    "suspicious",
];

type Version = (u64, u64, u64);

fn version(text: &str) -> Version {
    let mut parts = text.split('.').map(|part| part.parse().expect("a number"));
    let mut part = || parts.next().unwrap_or(0);
    (part(), part(), part())
}

#[test]
fn no_package_asks_for_a_newer_compiler_than_named() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let asked = packages.iter().filter_map(|package| {
        let wanted = version(package["rust_version"].as_str()?);
        Some((wanted, package["name"].as_str()?))
    });
    let asked: Vec<(Version, &str)> = asked.collect();
    let newest = asked.iter().map(|(version, _)| *version).max();
    let newest = newest.expect("some package names a compiler");
    let by = asked.iter().filter(|(version, _)| *version == newest);
    let by: BTreeSet<&str> = by.map(|(_, name)| *name).collect();
    let named = NEWEST_ASKED_BY.iter().copied().collect();
    assert_eq!(
        (newest, by),
        (NEWEST, named),
        "change the constants and the version in README.md"
    );
    let readme = crate::support::read("README.md");
    let from = format!("`cargo build` needs Rust {}.{}", NEWEST.0, NEWEST.1);
    assert!(readme.contains(&from), "README.md says: {from}");
}

/// Returns all sources, manifests, scripts and cargo settings.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root(), &mut found);
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if path.is_dir() {
            if !is_link && !matches!(&*name, ".git" | "target" | "node_modules") {
                collect(&path, found);
            }
        } else if is_of_a_build(&path, &name) {
            found.push(path);
        }
    }
}

fn is_of_a_build(path: &Path, name: &str) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("rs" | "toml" | "sh"))
        || matches!(name, "Makefile" | "run" | "config")
        || name.starts_with("rust-toolchain")
}

/// Returns the matching lines as `path:line: text`, except those in this file, which names the words.
fn lines(wanted: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for path in files() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if path.ends_with("xtask/src/toolchain.rs") {
            continue;
        }
        let shown = path.strip_prefix(root()).unwrap_or(&path).display();
        let matching = text.lines().enumerate();
        let matching = matching.filter(|(_, line)| wanted(&path, line));
        found.extend(matching.map(|(at, line)| format!("{shown}:{}: {line}", at + 1)));
    }
    found
}

const NONE: Vec<String> = Vec::new();

#[test]
fn no_source_or_manifest_uses_a_nightly_feature() {
    let found = lines(|_, line| NIGHTLY.iter().any(|word| line.contains(word)));
    assert_eq!(found, NONE);
}

/// Whether a line denies a lint group: `#![deny(clippy::pedantic)]` in a source, `warnings = "deny"` or
/// `pedantic = { level = "forbid" }` in a manifest.
fn denies_a_group(path: &Path, line: &str) -> bool {
    let is_group = |word: &str| GROUPS.contains(&word.trim().trim_start_matches("clippy::"));
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        let denies = line.contains("\"deny\"") || line.contains("\"forbid\"");
        let key = line.split('=').next().unwrap_or_default();
        return denies && is_group(key);
    }
    ["[deny(", "[forbid("].iter().any(|attribute| {
        let listed = line.split_once(attribute).map(|(_, listed)| listed);
        let listed = listed.and_then(|listed| listed.split(')').next());
        listed.is_some_and(|listed| listed.split(',').any(is_group))
    })
}

#[test]
fn no_source_or_manifest_denies_a_lint_group() {
    assert_eq!(lines(denies_a_group), NONE);
    for (path, line, expected) in [
        ("a.rs", "#![deny(warnings)]", true),
        ("a.rs", "#![forbid(unsafe_code, clippy::all)]", true),
        ("a.rs", "#![deny(unsafe_code)]", false),
        ("a.toml", "warnings = \"deny\"", true),
        (
            "a.toml",
            "pedantic = { level = \"deny\", priority = -1 }",
            true,
        ),
        ("a.toml", "unsafe_code = \"deny\"", false),
        (
            "a.toml",
            "pedantic = { level = \"warn\", priority = -1 }",
            false,
        ),
    ] {
        assert_eq!(denies_a_group(Path::new(path), line), expected, "{line}");
    }
}

/// Flags in `.cargo/config.toml` would also apply to a plain `cargo build`.
#[test]
fn no_setting_of_cargo_passes_flags_to_the_compiler() {
    let is_setting = |path: &Path| path.components().any(|part| part.as_os_str() == ".cargo");
    let found = lines(|path, line| {
        let key = line.split('=').next().unwrap_or_default().trim();
        is_setting(path) && matches!(key, "rustflags" | "RUSTFLAGS" | "rustc" | "rustc-wrapper")
    });
    assert_eq!(found, NONE);
}

#[test]
fn no_file_pins_a_compiler() {
    let pins = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("rust-toolchain"))
    };
    let found: Vec<PathBuf> = files().into_iter().filter(pins).collect();
    assert_eq!(found, Vec::<PathBuf>::new());
}
