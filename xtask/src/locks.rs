//! Checks that all locks come from `parking_lot`. A panic does not poison them, so no caller has to handle
//! poisoned locks.

use crate::support::{files, root};

/// Paths whose files use the locks of `std`, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "crates/service/src/logging.rs",
        "`tracing` writes through a lock of `std`",
    ),
    (
        "crates/testkit/",
        "doubles for tests, with a poisoned lock after a failed one",
    ),
];

/// The names of the locks of `std`.
const LOCKS: &[&str] = &["Mutex", "RwLock", "Condvar", "MutexGuard", "PoisonError"];

#[test]
fn locks_are_from_parking_lot() {
    let root = root();
    for path in files("rs") {
        let below = path.strip_prefix(&root).unwrap_or(&path);
        let name = below.to_string_lossy().into_owned();
        let is_product = name
            .strip_prefix("crates/")
            .is_some_and(|path| path.contains("/src/"));
        if !is_product || EXCEPTIONS.iter().any(|(path, _)| name.starts_with(path)) {
            continue;
        }
        let found = std_locks(&std::fs::read_to_string(&path).unwrap());
        assert!(
            found.is_empty(),
            "{name} uses {found:?} of `std::sync`; use `parking_lot`"
        );
    }
}

/// Returns the locks that a file uses from `std::sync`.
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
