//! Values and helpers that are written in one place, because copies of them drifted apart.

use crate::dropped_errors::after_arguments;
use crate::source::{Source, product_sources};

/// A text that only a few files may have.
struct Single {
    /// The text.
    text: &'static str,
    /// The files, below `crates` and without `src`, and why.
    homes: &'static [(&'static str, &'static str)],
    /// What other files use.
    remedy: &'static str,
}

const SINGLE: &[Single] = &[Single {
    text: "thinker",
    homes: &[
        ("model/ids.rs", "the constant"),
        (
            "registry/agents/mod.rs",
            "the name of a folder with its text",
        ),
        (
            "skillfile/fields/policy.rs",
            "a text for people, which a test compares with the constant",
        ),
        ("wire/budget.rs", "an example in a text for people"),
    ],
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

/// The files that keep the beginning of a text without a mark, how often, and why.
const BEGINNINGS: &[(&str, usize, &str)] = &[
    ("agent/prompt/untrusted.rs", 1, "compares the beginning"),
    ("cli/commands/status/render.rs", 1, "an id for its column"),
    ("cli/commands/status/watch.rs", 1, "an id for its line"),
    ("cli/table/layout.rs", 1, "an id for its column"),
    ("schedule/duration.rs", 1, "a number in an example"),
    ("service/remind.rs", 1, "cuts at whole words"),
    ("service/skills/host.rs", 1, "a name with a maximum length"),
    (
        "service/skills/import/crontab/job.rs",
        1,
        "a name with a maximum length",
    ),
    (
        "service/skills/import/fetch.rs",
        1,
        "the short form of a commit",
    ),
    ("tools/classify.rs", 1, "searches the beginning"),
];

#[test]
fn texts_for_people_are_cut_with_an_ellipsis() {
    let mut found: Vec<(String, usize)> = Vec::new();
    for source in product_sources() {
        let cuts = beginnings(&source.code);
        if cuts > 0 {
            found.push((name(&source), cuts));
        }
    }
    found.sort();
    let known = BEGINNINGS.iter();
    let known: Vec<(String, usize)> = known
        .map(|(path, count, _)| ((*path).to_owned(), *count))
        .collect();
    assert_eq!(found, known, "use `clip` of `deft-model`");
}

/// Counts the places that collect the first characters of a text.
fn beginnings(code: &str) -> usize {
    const TAKE: &str = ".chars().take";
    let code: String = code.split_whitespace().collect();
    let taken = code.match_indices(TAKE).filter(|(at, _)| {
        let rest = after_arguments(&code[at + TAKE.len()..]);
        rest.is_some_and(|rest| rest.starts_with(".collect"))
    });
    taken.count()
}

#[test]
fn collected_beginnings_are_found() {
    for (code, expected) in [
        ("let a: String = b.chars().take(MOST).collect();", 1),
        (
            "b.trim()\n    .chars()\n    .take(c(3))\n    .collect::<String>()",
            1,
        ),
        ("a.chars().take(2).eq(b.chars().take(2))", 0),
        ("a.iter().take(2).collect()", 0),
    ] {
        assert_eq!(beginnings(code), expected, "{code}");
    }
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
        let homes: Vec<&str> = single.homes.iter().map(|(path, _)| *path).collect();
        assert_eq!(found, homes, "{}: {}", single.text, single.remedy);
    }
}
