//! Checks that every kind of step has the documents and cases that CONTRIBUTING.md requires.

use deft_model::{Choice, StepType};

use crate::support::{files_in, read, root};

/// The folders in which each kind must appear as a key (`wait:`), and the extension of their files.
const CASES: [(&str, &str); 3] = [
    ("crates/skillfile/tests/cases/workflow", "case"),
    ("crates/workflow/tests/cases", "yaml"),
    ("crates/engine/tests/it", "rs"),
];

/// Pages of which one must describe each kind, outside its generated part.
const PAGES: [&str; 3] = ["docs/skill-format.md", "docs/running.md", "docs/agents.md"];

/// Whether a text contains the key of a step, at the beginning of a line or in flow style.
fn has_key(text: &str, key: &str) -> bool {
    let key = format!("{key}:");
    let mut places = text.match_indices(&key);
    places.any(|(at, _)| at == 0 || text[..at].ends_with([' ', '{', '\n', '-']))
}

/// Whether the handwritten part of a page mentions the kind: `wait` or `wait:` in backticks.
fn is_described(page: &str, word: &str) -> bool {
    let (written, rest) = page
        .split_once("<!-- generated: start -->")
        .unwrap_or((page, ""));
    let (_, after) = rest
        .split_once("<!-- generated: end -->")
        .unwrap_or((rest, ""));
    let forms = [format!("`{word}`"), format!("`{word}:")];
    let has = |text: &str| forms.iter().any(|form| text.contains(form));
    has(written) || has(after)
}

#[test]
fn each_kind_has_cases_and_pages() {
    let mut missing = Vec::new();
    for (word, _) in StepType::WORDS {
        for (folder, ending) in CASES {
            let files = files_in(&root().join(folder), ending);
            let text =
                |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
            if !files.iter().any(|path| has_key(&text(path), word)) {
                missing.push(format!("no file in {folder} has a `{word}` step"));
            }
        }
        if !PAGES.iter().any(|page| is_described(&read(page), word)) {
            missing.push(format!("none of {} describes `{word}`", PAGES.join(", ")));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn keys_are_found() {
    for text in [
        "  - {id: a, wait: 1}",
        "wait: 1",
        "  - wait: 1",
        "{wait: 1}",
    ] {
        assert!(has_key(text, "wait"), "{text}");
    }
    assert!(!has_key("await: 1", "wait"));
}
