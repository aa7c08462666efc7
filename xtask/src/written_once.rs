//! Values and helpers that are written in one place, because copies of them drifted apart.

use crate::source::{Source, product_sources};

/// A text that only one file may have.
struct Single {
    /// The text.
    text: &'static str,
    /// The file, below `crates` and without `src`.
    home: &'static str,
    /// What other files use.
    remedy: &'static str,
}

const SINGLE: &[Single] = &[Single {
    text: "\"thinker\"",
    home: "model/ids.rs",
    remedy: "use `DEFAULT_AGENT` of `deft-model`",
}];

/// The files that cut a text themselves, and why.
const CUTS: &[(&str, &str)] = &[
    ("cli/commands/skills/list.rs", "cuts at whole words"),
    ("cli/output.rs", "counts the columns of a terminal"),
    ("model/clip.rs", "the helper"),
    ("records/normalise/defaults.rs", "cuts at whole words"),
];

#[test]
fn one_helper_cuts_texts() {
    let cuts = |source: &Source| {
        let code: Vec<&str> = source.code.lines().collect();
        let text: Vec<&str> = source.text.lines().collect();
        assert_eq!(code.len(), text.len(), "{}", source.path);
        (0..code.len()).any(|at| {
            let marked = text[at..].iter().take(5).any(|line| line.contains("…\""));
            code[at].contains("char_indices().nth(") && marked || text[at].contains("push('…')")
        })
    };
    let sources = product_sources();
    let found: Vec<String> = sources
        .iter()
        .filter(|source| cuts(source))
        .map(name)
        .collect();
    let known: Vec<&str> = CUTS.iter().map(|(path, _)| *path).collect();
    assert_eq!(found, known, "use `clip` or `clip_value` of `deft-model`");
}

fn name(source: &Source) -> String {
    format!("{}/{}", source.krate, source.path)
}

#[test]
fn values_are_written_once() {
    let sources = product_sources();
    for single in SINGLE {
        let found: Vec<String> = sources
            .iter()
            .filter(|source| source.text.contains(single.text))
            .map(name)
            .collect();
        assert_eq!(found, [single.home], "{}: {}", single.text, single.remedy);
    }
}
