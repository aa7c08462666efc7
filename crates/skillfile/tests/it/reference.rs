//! Verdicts of the reference validator on texts that are hard to parse.
//!
//! `tests/reference/record.py` re-creates the verdicts with the reference validator.

use deft_skillfile::{Document, ParsedFile, Profile, has_errors};
use serde_json::Value;

use crate::support::{parse_at, report};

const CASES: &str = include_str!("../reference/cases.jsonl");

struct Case {
    path: String,
    content: String,
    valid: bool,
    properties: Value,
}

fn cases() -> impl Iterator<Item = Case> {
    CASES.lines().map(|line| {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        Case {
            path: format!("skills/{}/SKILL.md", text("folder")),
            content: text("content"),
            valid: case["valid"].as_bool().unwrap(),
            properties: case["properties"].clone(),
        }
    })
}

/// Renders the case and our result, for a failed test.
fn show(case: &Case, parsed: &ParsedFile) -> String {
    let report = report(&case.content, parsed);
    format!("{:?}\nwe say\n{report}", case.content)
}

#[test]
fn verdicts_equal_the_reference() {
    for case in cases() {
        let parsed = parse_at(&case.path, case.content.as_bytes(), Profile::AgentSkills);
        let valid = !has_errors(&parsed.diagnostics);
        assert_eq!(valid, case.valid, "{}", show(&case, &parsed));
    }
}

/// In both profiles, because the properties are those of the reference in either.
#[test]
fn properties_equal_the_reference() {
    for case in cases() {
        for profile in [Profile::AgentSkills, Profile::Deft] {
            let parsed = parse_at(&case.path, case.content.as_bytes(), profile);
            let shown = show(&case, &parsed);
            let ours = parsed.properties.map_or(Value::Null, Value::Object);
            // As text, because the order is part of the output.
            let theirs = case.properties.to_string();
            assert_eq!(ours.to_string(), theirs, "{shown}");
        }
    }
}

#[test]
fn positions_are_inside_the_file() {
    for case in cases() {
        for profile in [Profile::AgentSkills, Profile::Deft] {
            let parsed = parse_at(&case.path, case.content.as_bytes(), profile);
            for found in &parsed.diagnostics {
                let marked = found.span.range().map(|range| case.content.get(range));
                let is_inside = marked.is_none_or(|marked| marked.is_some());
                assert!(is_inside, "{found:?}\n{}", show(&case, &parsed));
            }
        }
    }
}

/// A plain `null` is a text for the reference and null for deft; this is the only difference.
#[test]
fn files_accepted_by_the_reference_load() {
    for case in cases().filter(|case| case.properties["description"].is_string()) {
        let description = case.properties["description"].as_str().unwrap_or("");
        if matches!(description, "~" | "null" | "Null" | "NULL") {
            continue;
        }
        let parsed = parse_at(&case.path, case.content.as_bytes(), Profile::Deft);
        let loaded = matches!(parsed.document, Some(Document::Skill(_)));
        assert!(loaded, "{}", show(&case, &parsed));
    }
}
