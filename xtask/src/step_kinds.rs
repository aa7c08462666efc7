//! Every kind of step has what CONTRIBUTING.md asks for: documents and cases.

use deft_model::{Choice, StepType};

use crate::support::{files_in, read, root};

/// Where a kind has to be written as a key (`wait:`), and the ending of the files there.
const CASES: [(&str, &str); 3] = [
    ("crates/skillfile/tests/cases/workflow", "case"),
    ("crates/workflow/tests/cases", "yaml"),
    ("crates/engine/tests/it", "rs"),
];

/// One of these pages has to describe a kind, outside of its generated part.
const PAGES: [&str; 3] = ["docs/skill-format.md", "docs/running.md", "docs/agents.md"];

/// Whether a text has the key of a step: at the beginning of a line or in flow style.
fn has_key(text: &str, key: &str) -> bool {
    let key = format!("{key}:");
    let mut places = text.match_indices(&key);
    places.any(|(at, _)| at == 0 || text[..at].ends_with([' ', '{', '\n', '-']))
}

/// Whether a person wrote about the kind: `wait` or `wait:` in backticks.
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
