//! Checks that each feature of the design is named by a test, and generates `docs/coverage.md`, which lists
//! them.
//!
//! An id counts if a test names it: in a comment at the test or inside it, in the file of a case, or in the
//! title of a case. A comment at the top of a file does not count. Not here: whether the test is good.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::{read, root};

/// Features without a test, and why. A feature that has a test must not be listed.
const OPEN: &[(&str, &str)] = &[];

/// Parts that are not built yet.
const LATER: &[&str] = &["10", "11", "12", "13"];

struct Feature {
    id: String,
    part: String,
    text: String,
}

fn features() -> Vec<Feature> {
    let list = read("xtask/features.txt");
    let rows = list.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| {
        let mut cells = line.splitn(3, " | ").map(str::to_owned);
        let mut next = || {
            cells
                .next()
                .unwrap_or_else(|| panic!("`{line}` has too few cells"))
        };
        Feature {
            id: next(),
            part: next(),
            text: next(),
        }
    })
    .collect()
}

/// Returns the ids in a text: `S0.1`, `X22`, and ranges such as `S0.1 to S0.3`.
fn ids(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    let words: Vec<&str> = text
        .split(|c: char| !is_word(c))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let Some((family, number)) = split_id(word) else {
            continue;
        };
        let end = match words.get(at + 1..at + 3) {
            Some(["to", last]) => split_id(last).filter(|(other, _)| *other == family),
            _ => None,
        };
        let end = end.map_or(number, |(_, end)| end);
        found.extend((number..=end).map(|number| format!("{family}{number}")));
    }
    // The end of a range is also found as a separate id.
    found.dedup();
    found
}

/// Splits an id into its prefix and its number: `S2.` and 17, or `X` and 3.
fn split_id(word: &str) -> Option<(&str, u32)> {
    let at = match word.as_bytes() {
        [b'S', b'0'..=b'4', b'.', ..] => 3,
        [b'X', ..] => 1,
        _ => return None,
    };
    let number = word[at..].parse().ok()?;
    Some((&word[..at], number))
}

/// Returns all files that may name a feature: tests, cases, and sources with tests inside.
fn places() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["crates", "tests/seeds/cases"] {
        collect(&root().join(folder), &mut found);
    }
    found.sort();
    found
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_output = name == "snapshots" || name == "target";
        if path.is_dir() && !is_output {
            collect(&path, found);
        } else if path.is_file() && name != "README.md" {
            found.push(path);
        }
    }
}

/// Returns the tests that name each id, as `path: test`.
fn tests_by_id() -> BTreeMap<String, BTreeSet<String>> {
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let root = root();
    for path in places() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let below = path.strip_prefix(&root).unwrap_or(&path);
        let shown = below.to_string_lossy().into_owned();
        let is_test = shown.contains("/tests/") || shown.starts_with("tests/");
        let mut add = |id: String, test: String| {
            named.entry(id).or_default().insert(test);
        };
        if path.extension().is_some_and(|found| found == "rs") {
            let from = if is_test || shown.ends_with("tests.rs") {
                Some(0)
            } else {
                text.find("#[cfg(test)]\nmod")
            };
            for (id, test) in from.into_iter().flat_map(|from| in_source(&text[from..])) {
                add(id, format!("{shown}: {test}"));
            }
        } else if is_test && shown.starts_with("tests/seeds/") {
            for (id, test) in in_cases(&text) {
                add(id, format!("{shown}: {test}"));
            }
        } else if is_test {
            ids(&text).into_iter().for_each(|id| add(id, shown.clone()));
        }
    }
    named
}

/// The suffix added to the title of a case that is known to fail in every home.
const FAILS: &str = " (fails today)";

/// Returns the ids in the titles of cases, each with its case.
fn in_cases(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for case in text.split("\n== ").skip(1) {
        let title = case.lines().next().unwrap_or_default();
        let words = title.rsplit_once(" (").map_or(title, |(words, _)| words);
        let has = |start: &str| case.lines().any(|line| line.starts_with(start));
        let in_some = case
            .lines()
            .any(|line| line.starts_with("home ") && line.contains("! "));
        let mark = if has("fails ") && !in_some { FAILS } else { "" };
        let ids = ids(title).into_iter();
        found.extend(ids.map(|id| (id, format!("{words}{mark}"))));
    }
    found
}

/// Returns ids with their functions: for a comment before a function, that function; otherwise the enclosing
/// one.
fn in_source(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    let mut around: Option<String> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("//!") {
            continue;
        }
        if let Some(name) = function(trimmed) {
            found.extend(waiting.drain(..).map(|id| (id, name.clone())));
            around = Some(name);
        }
        let is_outside = trimmed.starts_with("///") || !line.starts_with(' ');
        for id in ids(trimmed) {
            match &around {
                Some(name) if !is_outside => found.push((id, name.clone())),
                _ => waiting.push(id),
            }
        }
    }
    found
}

fn function(line: &str) -> Option<String> {
    let (before, rest) = line.split_once("fn ")?;
    let is_head = ["", "async ", "pub(crate) ", "pub(crate) async "].contains(&before);
    let name = rest
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()?;
    is_head.then(|| name.to_owned())
}

fn document(features: &[Feature], named: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut out = String::from(
        "# Coverage of the features\n\n\
         Generated by a test of `xtask` from `xtask/features.txt` and the tests that name an id; run \
         `UPDATE=1 cargo test -p xtask` after a change.\n\
         `later` belongs to a part that is not built yet, `open` has no test, `fails today` is a case that waits for its feature. Of several tests one is shown.\n\n\
         | id | feature | test | part |\n| --- | --- | --- | --- |\n",
    );
    for feature in features {
        let open = OPEN.iter().find(|(id, _)| *id == feature.id);
        let test = match (open, named.get(&feature.id)) {
            _ if is_later(feature) => "later".to_owned(),
            (Some((_, why)), _) => format!("open: {why}"),
            (None, Some(tests)) => cell(tests),
            (None, None) => "missing".to_owned(),
        };
        out.push_str(&format!(
            "| {} | {} | {test} | {} |\n",
            feature.id, feature.text, feature.part
        ));
    }
    out
}

fn is_later(feature: &Feature) -> bool {
    LATER.contains(&feature.part.as_str())
}

/// Selects one test for a feature, preferably a passing one of the seed suite. Only one is listed, so the
/// document rarely changes.
fn cell(tests: &BTreeSet<String>) -> String {
    let holds = |test: &&String| !test.ends_with(FAILS);
    let first = tests
        .iter()
        .find(|test| holds(test) && test.starts_with("tests/seeds/"))
        .or_else(|| tests.iter().find(holds))
        .or_else(|| tests.first());
    first.map_or_else(String::new, |test| {
        let (path, name) = test.split_once(": ").unwrap_or((test, ""));
        let space = if name.is_empty() { "" } else { " " };
        format!("`{path}`{space}{}", name.replace('|', "/"))
    })
}

#[test]
fn every_feature_is_named_by_a_test() {
    let named = tests_by_id();
    let missing: BTreeSet<String> = features()
        .iter()
        .filter(|feature| !is_later(feature) && !named.contains_key(&feature.id))
        .map(|feature| feature.id.clone())
        .collect();
    let open: BTreeSet<String> = OPEN.iter().map(|(id, _)| (*id).to_owned()).collect();
    let hint =
        "left: ids that no test names, right: the list `OPEN`; name the id at a test that shows it";
    assert_eq!(missing, open, "{hint}");
}

#[test]
fn the_coverage_is_current() {
    let path = root().join("docs/coverage.md");
    let now = document(&features(), &tests_by_id());
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &now).expect("the document can be written");
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == now,
        "docs/coverage.md is out of date: run `UPDATE=1 cargo test -p xtask`"
    );
}

/// `features.txt` has exactly the ids of the design.
#[test]
fn features_equal_those_of_the_design() {
    let Some(path) = deft_testkit::find_shared("design/features.md") else {
        return;
    };
    let design = std::fs::read_to_string(path).expect("the list of features");
    let entries = design.lines().filter_map(|line| line.strip_prefix("- **"));
    let theirs: BTreeSet<String> = entries
        .filter_map(|entry| ids(entry.split([' ', '*']).next()?).pop())
        .collect();
    let ours: BTreeSet<String> = features().into_iter().map(|feature| feature.id).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn ids_and_ranges_are_read() {
    assert_eq!(
        ids("/// S0.86 to S0.88, X3: as (S2.1) says; not S9.1, X, XS1 or S0.x. S4.17."),
        ["S0.86", "S0.87", "S0.88", "X3", "S2.1", "S4.17"]
    );
}
