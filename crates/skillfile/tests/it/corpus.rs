//! 294 public skills with the reference validator's verdict on each.

use deft_skillfile::{Document, Profile, has_errors};
use serde_json::Value;

use crate::support::{parse_at, report};

struct Case {
    path: String,
    text: String,
    verdict: Value,
}

fn cases() -> Vec<Case> {
    // Our own cases are in `tests/cases/agentskills` and `tests/reference`.
    let Some(root) = deft_testkit::find_shared("corpus/agentskills") else {
        return Vec::new();
    };
    let verdicts = std::fs::read_to_string(root.join("verdicts.jsonl")).unwrap();
    let case = |line: &str| {
        let verdict: Value = serde_json::from_str(line).unwrap();
        let path = verdict["path"].as_str().unwrap().to_owned();
        let text = std::fs::read_to_string(root.join(&path)).unwrap();
        Case {
            path,
            text,
            verdict,
        }
    };
    let cases: Vec<Case> = verdicts.lines().map(case).collect();
    assert_eq!(cases.len(), 294);
    cases
}

#[test]
fn strict_verdicts_equal_the_reference() {
    for case in cases() {
        let parsed = parse_at(&case.path, case.text.as_bytes(), Profile::AgentSkills);
        let valid = !has_errors(&parsed.diagnostics);
        assert_eq!(
            valid,
            case.verdict["valid"].as_bool().unwrap(),
            "{}: reference says {}, we say\n{}",
            case.path,
            case.verdict["errors"],
            report(&case.text, &parsed),
        );
    }
}

#[test]
fn properties_equal_the_reference() {
    for case in cases() {
        let parsed = parse_at(&case.path, case.text.as_bytes(), Profile::AgentSkills);
        let ours = parsed.properties.map_or(Value::Null, Value::Object);
        // Unreadable files have no properties, which is `null` in the verdict.
        assert_eq!(ours, case.verdict["properties"], "{}", case.path);
    }
}

#[test]
fn readable_skills_load() {
    for case in cases()
        .iter()
        .filter(|case| case.verdict["readable"] == Value::Bool(true))
    {
        let parsed = parse_at(&case.path, case.text.as_bytes(), Profile::Deft);
        let loaded = matches!(parsed.document, Some(Document::Skill(_)));
        assert!(loaded, "{}\n{}", case.path, report(&case.text, &parsed));
    }
}
