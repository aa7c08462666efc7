//! Snapshots of every message: `xtask/messages` has a file per crate with the sentences in its code, so that a
//! review of a change shows them together and a reader can read all of them in one go.
//!
//! Not here: help pages (`docs/cli.md`), pages of error codes (`docs/errors`), whether a message is good.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::{Source, literals, product_sources};
use crate::support::{files_in, root};

/// Below the root of the workspace.
const FOLDER: &str = "xtask/messages";

/// How statements of SQL begin.
const SQL: [&str; 9] = [
    "ALTER ", "CREATE ", "DELETE ", "DROP ", "INSERT ", "PRAGMA ", "SELECT ", "UPDATE ", "WITH ",
];

/// Calls whose text no user sees.
const INTERNAL_CALLS: [&str; 4] = ["expect(", "panic!(", "unreachable!(", "debug_assert!("];

#[test]
fn every_message_is_in_a_snapshot() {
    let found = messages();
    let folder = root().join(FOLDER);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(&folder).expect("the folder can be created");
        for old in files_in(&folder, "txt") {
            std::fs::remove_file(old).expect("an old snapshot can be removed");
        }
        for (name, text) in &found {
            std::fs::write(folder.join(name), text).expect("a snapshot can be written");
        }
        return;
    }
    let stored = files_in(&folder, "txt").into_iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = std::fs::read_to_string(&path).expect("a snapshot can be read");
        (name.into_owned(), text)
    });
    let stored: BTreeMap<String, String> = stored.collect();
    let names = stored.keys().chain(found.keys()).collect::<BTreeSet<_>>();
    let changed: Vec<_> = names
        .into_iter()
        .filter(|name| stored.get(*name) != found.get(*name))
        .collect();
    assert_eq!(
        changed,
        [] as [&String; 0],
        "messages changed: run `UPDATE=1 cargo test -p xtask` and read the difference in `{FOLDER}`"
    );
}

/// Returns the snapshot of each crate, by its file name. Messages stay in the order of their file and have no
/// line numbers, so only a changed message changes a snapshot.
fn messages() -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut sources = product_sources();
    sources.retain(|source| !source.krate.ends_with("testkit"));
    sources.sort_by(|a, b| (&a.krate, &a.path).cmp(&(&b.krate, &b.path)));
    for source in sources {
        let lines = messages_of_file(&source);
        if !lines.is_empty() {
            let snapshot = found.entry(format!("{}.txt", source.krate)).or_default();
            let gap = if snapshot.is_empty() { "" } else { "\n" };
            snapshot.push_str(&format!("{gap}{}\n", source.path));
            snapshot.extend(lines.iter().map(|line| format!("  {line}\n")));
        }
    }
    found
}

fn messages_of_file(source: &Source) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, literal) in literals(&source.text) {
        let message = content(&literal);
        let is_internal = INTERNAL_CALLS
            .iter()
            .any(|call| source.text[..at].trim_end().ends_with(call));
        if is_sentence(message) && !is_internal && !lines.iter().any(|line| line == message) {
            lines.push(message.replace('\n', "\n  "));
        }
    }
    lines
}

/// Returns what is between the quotes of a literal.
fn content(literal: &str) -> &str {
    let inner = literal.trim_start_matches('r').trim_matches('#');
    inner
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(inner)
}

/// Whether a text has two words in a row, or a word and a value, and is not a statement of SQL.
fn is_sentence(text: &str) -> bool {
    let is_sql = SQL.iter().any(|word| text.trim_start().starts_with(word));
    let words: Vec<&str> = text.split_whitespace().collect();
    let has_words = words.windows(2).any(|pair| {
        is_word(pair[0]) && is_word_or_value(pair[1])
            || is_word_or_value(pair[0]) && is_word(pair[1])
    });
    !is_sql && has_words
}

fn is_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| c.is_ascii_punctuation() && !"{}<>".contains(c));
    !word.is_empty() && word.chars().all(char::is_alphabetic)
}

fn is_word_or_value(word: &str) -> bool {
    let value = word.trim_matches(['`', '"', '\'', '(', ')', ',', ':', ';']);
    is_word(word) || value.starts_with('{') && value.ends_with('}')
}

#[test]
fn the_scanner_finds_sentences() {
    for text in [
        "cannot read {path}",
        "a run",
        "{count} runs",
        "`{name}`: no answer",
    ] {
        assert!(is_sentence(text), "{text}");
    }
    for text in [
        "SELECT id FROM run",
        "run.started",
        "{a} {b}",
        "text/html; charset=utf-8",
        "",
    ] {
        assert!(!is_sentence(text), "{text}");
    }
    assert_eq!(content("\"a b\""), "a b");
    assert_eq!(content("r#\"a \"b\" c\"#"), "a \"b\" c");
}
