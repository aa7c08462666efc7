//! One kind of lock: `parking_lot`. It is not poisoned by a panic, so that no caller decides what a
//! poisoned lock means.

use crate::support::{files, root};

/// Crates that still use the locks of `std`, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "cli",
        "its files are moving into other crates and follow then",
    ),
    (
        "engine",
        "its files are moving into other crates and follow then",
    ),
    ("agents", "files of the engine, which follow"),
    ("channels", "files of the command line, which follow"),
    ("config", "files of the command line, which follow"),
    ("scheduler", "files of the engine, which follow"),
    ("service", "files of the command line, which follow"),
    (
        "testkit",
        "doubles for tests, with a poisoned lock after a failed one",
    ),
];

/// Names of locks, as they end an import or a path.
const LOCKS: &[&str] = &["Mutex", "RwLock", "Condvar", "MutexGuard", "PoisonError"];

#[test]
fn locks_are_those_of_parking_lot() {
    let root = root();
    for path in files("rs") {
        let below = path.strip_prefix(&root).unwrap_or(&path);
        let name = below.to_string_lossy().into_owned();
        let Some(krate) = name.strip_prefix("crates/").and_then(crate_of_source) else {
            continue;
        };
        if EXCEPTIONS.iter().any(|(exception, _)| *exception == krate) {
            continue;
        }
        let found = std_locks(&std::fs::read_to_string(&path).unwrap());
        assert!(
            found.is_empty(),
            "{name} uses {found:?} of `std::sync`; use `parking_lot`"
        );
    }
}

/// The crate of `NAME/src/…`.
fn crate_of_source(path: &str) -> Option<&str> {
    let (krate, rest) = path.split_once('/')?;
    rest.starts_with("src/").then_some(krate)
}

/// The locks that a file takes from `std::sync`.
fn std_locks(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (at, start) in text.match_indices("std::sync::") {
        let rest = &text[at + start.len()..];
        let names = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default(),
            None => rest
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or_default(),
        };
        let words = names.split(|c: char| !c.is_alphanumeric());
        for word in words {
            found.extend(LOCKS.iter().find(|lock| **lock == word));
        }
    }
    found
}

#[test]
fn locks_are_found_in_imports_and_paths() {
    let cases: [(&str, &[&str]); 5] = [
        ("use std::sync::Mutex;", &["Mutex"]),
        ("use std::sync::{Arc, RwLock, mpsc};", &["RwLock"]),
        ("fn f(a: &std::sync::MutexGuard<'_, u8>)", &["MutexGuard"]),
        ("use std::sync::atomic::AtomicBool;", &[]),
        ("use parking_lot::Mutex; use tokio::sync::Mutex;", &[]),
    ];
    for (text, wanted) in cases {
        assert_eq!(std_locks(text), wanted, "{text}");
    }
}
