//! Parsing a rendered skill gives the same skill.
//!
//! Man pages, workflows and records must be equal in every field. A `SKILL.md` for the open format only has
//! texts below `metadata`, so everything except `open.metadata` and `extra` must be equal, and both must be
//! found below `metadata` as texts.

use std::collections::BTreeSet;

use deft_model::{Body, Choice, Dialect, Object, Skill, StepType};
use deft_skillfile::{Document, Profile, Schema, has_errors, render, schema};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use crate::strategies;
use crate::support::{self, parse_at, report};

/// A kind of step that is missing in the strategy would be checked by none of the tests below.
#[test]
fn every_kind_of_step_is_generated() {
    let mut runner = TestRunner::deterministic();
    let mut types = BTreeSet::new();
    for _ in 0..100 {
        let skill = strategies::workflow().new_tree(&mut runner).unwrap();
        let Body::Steps(workflow) = skill.current().body else {
            panic!("a workflow has steps");
        };
        for step in &workflow.steps {
            let step_type = step.kind.step_type();
            types.insert(step_type.word());
            let calls = step.kind.tool_call().is_some();
            assert_eq!(step_type.is_tool_call(), calls, "{step_type}");
        }
    }
    let all: BTreeSet<&str> = StepType::WORDS.iter().map(|(word, _)| *word).collect();
    assert_eq!(types, all);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agentskills(skill in strategies::agentskills()) {
        let path = path_of(&skill);
        let text = render::agentskills(&skill);
        let read = read(&path, &text)?;
        compare_open(&skill, &read, &text)?;
        let strict = parse_at(&path, text.as_bytes(), Profile::AgentSkills);
        prop_assert!(!has_errors(&strict.diagnostics), "{}\n{}", text, report(&text, &strict));
    }

    #[test]
    fn manpage(skill in strategies::manpage()) {
        let text = render::manpage(&skill);
        let read = read(&path_of(&skill), &text)?;
        prop_assert_eq!(&read, &skill, "{}", text);
    }

    #[test]
    fn workflow(skill in strategies::workflow()) {
        let text = render::workflow(&skill).unwrap();
        let read = read(&path_of(&skill), &text)?;
        prop_assert_eq!(&read, &skill, "{}", text);
    }

    #[test]
    fn record(skill in strategies::record()) {
        let value = render::record(&skill).unwrap();
        let text = serde_json::to_string_pretty(&value).unwrap();
        let from_file = read("record.json", &text)?;
        prop_assert_eq!(&from_file, &skill, "{}", text);
        let handed_over = deft_skillfile::parse_record(&value, &support::moment());
        prop_assert_eq!(handed_over.document, Some(Document::Skill(Box::new(skill))));
    }
}

/// Every case file that loads, rendered and parsed again.
#[test]
fn good_cases() {
    let mut loaded = 0;
    for (path, case) in support::cases() {
        let Some(Document::Skill(skill)) = case.parse().document else {
            continue;
        };
        loaded += 1;
        let (name, text) = (path.display(), write(&skill));
        let Some(text) = text else {
            panic!("{name}: its own dialect cannot hold it");
        };
        let parsed = parse_at(&case.path, text.as_bytes(), Profile::Deft);
        let found = report(&text, &parsed);
        let Some(Document::Skill(again)) = parsed.document else {
            panic!("{name} does not load again:\n{text}\n{found}");
        };
        if skill.dialect == Dialect::AgentSkills {
            compare_open(&skill, &again, &text).unwrap_or_else(|why| panic!("{name}: {why}"));
        } else {
            assert_eq!(again, skill, "{name}:\n{text}");
        }
        // Rendering again gives the same text.
        assert_eq!(write(&again).as_deref(), Some(text.as_str()), "{name}");
    }
    assert!(loaded > 100, "only {loaded} cases load");
}

/// Renders the skill in its own dialect.
fn write(skill: &Skill) -> Option<String> {
    match skill.dialect {
        Dialect::AgentSkills => Some(render::agentskills(skill)),
        Dialect::ManPage => Some(render::manpage(skill)),
        Dialect::Workflow => render::workflow(skill),
        Dialect::Record => render::record(skill).map(|value| value.to_string()),
    }
}

fn path_of(skill: &Skill) -> String {
    match skill.dialect {
        Dialect::AgentSkills => format!("{}/SKILL.md", skill.id),
        Dialect::ManPage => format!("{}.md", skill.id.as_str().replace('.', "/")),
        Dialect::Workflow => format!("{}.yaml", skill.id),
        Dialect::Record => "record.json".to_owned(),
    }
}

fn read(path: &str, text: &str) -> Result<Skill, TestCaseError> {
    let parsed = parse_at(path, text.as_bytes(), Profile::Deft);
    match parsed.document {
        Some(Document::Skill(skill)) => Ok(*skill),
        _ => Err(TestCaseError::fail(format!(
            "{text}\n{}",
            report(text, &parsed)
        ))),
    }
}

/// Compares the fields that the open format can express.
fn compare_open(skill: &Skill, read: &Skill, text: &str) -> Result<(), TestCaseError> {
    let mut expected = skill.clone();
    // The name is the id there; a name in prose becomes the title.
    expected.name = skill.id.to_string();
    expected.domain.clone_from(&read.domain);
    expected.open.metadata.clone_from(&read.open.metadata);
    expected.extra = Object::new();
    prop_assert_eq!(&expected, read, "{}", text);
    let schema = schema(Schema::Skill);
    let ours = &schema["properties"]["metadata"]["properties"];
    // If a key exists in both places, the one below `metadata` takes precedence.
    let mut given = skill.extra.clone();
    given.extend(skill.open.metadata.clone());
    for (key, value) in given.iter().filter(|(key, _)| ours.get(key).is_none()) {
        let kept = read.open.metadata.get(key).and_then(Value::as_str);
        match value {
            Value::String(written) => prop_assert_eq!(kept, Some(written.as_str()), "{}", text),
            other => {
                let held = |text: &str| serde_json::from_str::<Value>(text).ok();
                prop_assert_eq!(kept.and_then(held), held(&other.to_string()), "{}", text);
            }
        }
    }
    Ok(())
}
