//! Checks that each crate has at most 9,000 lines without tests, or a reason in ARCHITECTURE.md.

use std::collections::BTreeMap;

use crate::source::product_sources;
use crate::support::read;

const MAX_LINES: usize = 9_000;

/// Returns the rows of the table below the heading "Large crates": the crate and the reason.
fn reasons() -> BTreeMap<String, String> {
    let text = read("ARCHITECTURE.md");
    let section = text
        .split("\n### Large crates\n")
        .nth(1)
        .expect("a section `Large crates`");
    let section = section.split("\n#").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        (cells[1].trim_matches('`').to_owned(), cells[2].to_owned())
    };
    rows.map(row).collect()
}

#[test]
fn large_crates_have_a_reason() {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    for source in product_sources() {
        *lines.entry(source.krate).or_default() += source.text.lines().count();
    }
    let large: BTreeMap<&String, &usize> = lines
        .iter()
        .filter(|(_, lines)| **lines > MAX_LINES)
        .collect();
    let found: Vec<&String> = large.keys().copied().collect();
    let reasons = reasons();
    let known: Vec<&String> = reasons.keys().collect();
    assert_eq!(
        found, known,
        "left: crates over {MAX_LINES} lines, right: the table `Large crates` in ARCHITECTURE.md; lines: {large:?}"
    );
    assert!(
        reasons.values().all(|reason| !reason.is_empty()),
        "a row has no reason: {reasons:?}"
    );
}
