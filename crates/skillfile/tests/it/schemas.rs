//! The JSON Schemas accept what deft accepts without a diagnostic, and reject what it rejects, as far as a
//! schema can express it.

use deft_skillfile::{Document, Profile, Schema, Severity, has_errors, render, schema};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies;
use crate::support::{self, parse_at, report};

/// Returns why a value does not match a schema, for the subset of draft 7 that our schemas use.
fn misfit(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let rules = schema.as_object()?.iter();
    rules
        .filter(|(rule, _)| {
            !matches!(
                rule.as_str(),
                "$schema" | "title" | "description" | "examples"
            )
        })
        .find_map(|(rule, wanted)| broken(rule, wanted, schema, value, at))
}

fn broken(rule: &str, wanted: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let fits = |schema: &Value| misfit(schema, value, at).is_none();
    let fit = || {
        wanted
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| fits(one))
            .count()
    };
    let holds = match rule {
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|one| is_type(one, value)),
            one => is_type(one, value),
        },
        "enum" => wanted.as_array().unwrap().contains(value),
        "anyOf" => fit() > 0,
        "oneOf" => fit() == 1,
        "not" => !fits(wanted),
        "minimum" => value.as_f64().is_none_or(|n| n >= wanted.as_f64().unwrap()),
        "exclusiveMinimum" => value.as_f64().is_none_or(|n| n > wanted.as_f64().unwrap()),
        "maximum" => value.as_f64().is_none_or(|n| n <= wanted.as_f64().unwrap()),
        "maxLength" => value
            .as_str()
            .is_none_or(|text| text.chars().count() as u64 <= wanted.as_u64().unwrap()),
        "minLength" => value
            .as_str()
            .is_none_or(|text| length(text.chars().count(), wanted)),
        "minItems" => value
            .as_array()
            .is_none_or(|items| length(items.len(), wanted)),
        "pattern" => {
            let pattern = regex::Regex::new(wanted.as_str().unwrap()).unwrap();
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        "required" => value.as_object().is_none_or(|object| {
            let mut keys = wanted.as_array().unwrap().iter();
            keys.all(|key| object.contains_key(key.as_str().unwrap()))
        }),
        "items" | "properties" | "additionalProperties" => {
            return parts(rule, wanted, schema, value, at);
        }
        other => panic!("the checker does not know `{other}`"),
    };
    (!holds).then(|| format!("{at}: {value} breaks {rule} {wanted}"))
}

/// Checks the rules about the contents of a value.
fn parts(rule: &str, wanted: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let known = |key: &str| schema["properties"].get(key);
    match (rule, value) {
        ("items", Value::Array(items)) => items
            .iter()
            .find_map(|item| misfit(wanted, item, &format!("{at}[]"))),
        ("properties", Value::Object(object)) => object
            .iter()
            .find_map(|(key, value)| misfit(known(key)?, value, &format!("{at}.{key}"))),
        ("additionalProperties", Value::Object(object)) if wanted == &json!(false) => {
            let stranger = object.keys().find(|key| known(key).is_none());
            stranger.map(|key| format!("{at}: `{key}` is not known"))
        }
        _ => None,
    }
}

fn length(length: usize, wanted: &Value) -> bool {
    length as u64 >= wanted.as_u64().unwrap()
}

fn is_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("no type `{other}`"),
    }
}

/// Parses YAML with deft's own parser: deft preserves unknown keys below `metadata`.
fn value(yaml: &str) -> Value {
    let inner: String = yaml
        .split_inclusive('\n')
        .map(|line| format!("    {line}"))
        .collect();
    let file = format!("---\nname: x\ndescription: y\nmetadata:\n  kept:\n{inner}\n---\nText.\n");
    let parsed = parse_at("x/SKILL.md", file.as_bytes(), Profile::Deft);
    match parsed.document.as_ref() {
        Some(Document::Skill(skill)) => skill.open.metadata["kept"].clone(),
        _ => panic!("{file}\n{}", report(&file, &parsed)),
    }
}

/// Returns the text between the fences of a `SKILL.md`.
fn frontmatter(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("---\n")?;
    rest.split_once("\n---").map(|(yaml, _)| yaml)
}

#[test]
fn files_without_findings_match_the_schema() {
    let (workflow, skill) = (schema(Schema::Workflow), schema(Schema::Skill));
    let mut taken = 0;
    for (path, case) in support::cases() {
        let parsed = case.parse();
        let silent = |one: &deft_skillfile::Diagnostic| one.severity == Severity::Hint;
        let Some(Document::Skill(loaded)) = &parsed.document else {
            continue;
        };
        let text = String::from_utf8_lossy(&case.bytes).replace("\r\n", "\n");
        let clean = parsed.diagnostics.iter().all(silent) && !text.starts_with('\u{feff}');
        let (schema, yaml) = match loaded.dialect {
            deft_model::Dialect::Workflow => (&workflow, Some(text.as_str())),
            deft_model::Dialect::AgentSkills => (&skill, frontmatter(&text)),
            _ => continue,
        };
        let Some(yaml) = yaml.filter(|_| clean) else {
            continue;
        };
        taken += 1;
        let why = misfit(schema, &value(yaml), "");
        assert_eq!(why, None, "{}", path.display());
    }
    assert!(taken >= 50, "only {taken} files were checked");
}

/// The examples of the documentation: code blocks with `skill=` and a path after the language.
#[test]
fn examples_match_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/skill-format.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut examples = 0;
    for block in page
        .split("\n```")
        .filter(|block| block.contains(" skill="))
    {
        let (head, text) = block.split_once('\n').unwrap();
        let (schema, found) = match head.split_once(" skill=").unwrap() {
            ("markdown", path) if !path.ends_with("SKILL.md") => continue,
            ("markdown", _) => (schema(Schema::Skill), value(frontmatter(text).unwrap())),
            ("yaml", _) => (schema(Schema::Workflow), value(text)),
            _ => (schema(Schema::Record), serde_json::from_str(text).unwrap()),
        };
        examples += 1;
        assert_eq!(misfit(&schema, &found, ""), None, "{head}");
    }
    assert!(examples > 3, "only {examples} examples");
}

#[test]
fn rendered_skills_match_the_schema() {
    let skill_schema = schema(Schema::Skill);
    for (path, case) in support::cases() {
        let Some(Document::Skill(skill)) = case.parse().document else {
            continue;
        };
        let text = render::agentskills(&skill);
        let why = misfit(&skill_schema, &value(frontmatter(&text).unwrap()), "");
        assert_eq!(why, None, "{}", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_skills_match_the_schema(skill in strategies::agentskills()) {
        let text = render::agentskills(&skill);
        let found = value(frontmatter(&text).unwrap());
        prop_assert_eq!(misfit(&schema(Schema::Skill), &found, ""), None, "{}", text);
    }

    #[test]
    fn generated_workflows_match_the_schema(skill in strategies::workflow()) {
        let text = render::workflow(&skill).unwrap();
        prop_assert_eq!(misfit(&schema(Schema::Workflow), &value(&text), ""), None, "{}", text);
    }

    #[test]
    fn generated_records_match_the_schema(skill in strategies::record()) {
        let record = render::record(&skill).unwrap();
        prop_assert_eq!(misfit(&schema(Schema::Record), &record, ""), None, "{}", record);
    }
}

/// Workflows that both deft and the schema reject.
const REFUSED: &[&str] = &[
    "steps: []",
    "steps: [{id: a}]",
    "steps: [{id: a, tool: b, skill: c}]",
    "steps: [{id: a, tool: b, compute: c, agent: d}]",
    "steps: [{id: a, tool: ''}]",
    "steps: [{id: a, tool: null}]",
    "steps: [{tool: b}]",
    "steps: [{id: get-a, tool: b}]",
    "steps: [{id: class, tool: b}]",
    "steps: [{id: a, tool: b, stranger: c}]",
    "steps: [{id: a, tool: b, loop: abc}]",
    "steps: [{id: a, tool: b, loop: [1], loop_concurrency: 0}]",
    "steps: [{id: a, tool: b, timeout: 0}]",
    "steps: [{id: a, tool: b, on_error: perhaps}]",
    "steps: [{id: a, tool: b, on_error: 'retry:0'}]",
    "steps: [{id: a, tool: b, heal: [{when: sometimes, tool: c}]}]",
    "steps: [{id: a, tool: b, args: text}]",
    "name: ''\nsteps: [{id: a, tool: b}]",
    "description: ' '\nsteps: [{id: a, tool: b}]",
    "stranger: 1\nsteps: [{id: a, tool: b}]",
    "inputs: [{name: a-b}]\nsteps: [{id: a, tool: b}]",
    "inputs: [{name: x, type: strin}]\nsteps: [{id: a, tool: b}]",
    "inputs: [{name: x, enum: []}]\nsteps: [{id: a, tool: b}]",
    "inputs: [{name: x, max_length: -1}]\nsteps: [{id: a, tool: b}]",
    "inputs: [{name: x, required: perhaps}]\nsteps: [{id: a, tool: b}]",
    "concurrency: 0\nsteps: [{id: a, tool: b}]",
    "budget: {tokens: 0}\nsteps: [{id: a, tool: b}]",
    "budget: {cost_usd: -1}\nsteps: [{id: a, tool: b}]",
    "trigger_config: {interval_minutes: 0}\nsteps: [{id: a, tool: b}]",
    "trigger_config: daily\nsteps: [{id: a, tool: b}]",
    "misfire: never\nsteps: [{id: a, tool: b}]",
];

#[test]
fn refused_files_do_not_match_the_schema() {
    let workflow = schema(Schema::Workflow);
    for rest in REFUSED {
        let absent = ["name", "description"].into_iter();
        let absent = absent.filter(|key| !rest.starts_with(key));
        let head: String = absent.map(|key| format!("{key}: demo\n")).collect();
        let text = format!("{head}{rest}\n");
        let parsed = parse_at("demo.yaml", text.as_bytes(), Profile::Deft);
        assert!(has_errors(&parsed.diagnostics), "deft takes\n{text}");
        assert!(
            misfit(&workflow, &value(&text), "").is_some(),
            "the schema takes\n{text}"
        );
    }
}

/// deft accepts these spellings, although they are unusual.
#[test]
fn other_spellings_match_the_schema() {
    let workflow = schema(Schema::Workflow);
    let types = "int float bool list dict str text map date any".split(' ');
    let inputs: Vec<String> = types
        .map(|one| format!("{{name: {one}_in, type: {one}}}"))
        .collect();
    let rest = format!(
        r#"name: demo
description: demo
inputs: [{}, {{name: x, required: "no", max_length: "3", pattern: null, default: null}}]
outputs: null
tags: 3
author:
enabled: "off"
max_steps: "5"
timeout: "30"
concurrency: " 2 "
budget: '{{"tokens": "100", "cost_usd": "0.5"}}'
trigger_config: '{{"schedule": "0 8 * * *"}}'
keywords: a, b
heal: [{{when: "network, auth", tool: c, args: null}}]
steps: [{{id: a, tool: b, args: null, on_error: null, depends_on: null, loop: "{{{{ [1] }}}}"}}]
"#,
        inputs.join(", ")
    );
    let parsed = parse_at("demo.yaml", rest.as_bytes(), Profile::Deft);
    let found = report(&rest, &parsed);
    assert!(
        parsed
            .diagnostics
            .iter()
            .all(|one| one.severity == Severity::Hint),
        "{found}"
    );
    assert_eq!(misfit(&workflow, &value(&rest), ""), None);
}

/// Agents that load without diagnostics are accepted; those with an invalid key or value are not.
#[test]
fn loaded_agents_match_the_schema() {
    let schema = schema(Schema::Agent);
    let mut verdicts = Vec::new();
    for (path, case) in support::cases() {
        let text = String::from_utf8_lossy(&case.bytes).into_owned();
        let (true, Some(yaml)) = (case.path.ends_with("/AGENT.md"), frontmatter(&text)) else {
            continue;
        };
        let parsed = case.parse();
        let taken = misfit(&schema, &value(yaml), "").is_none();
        if matches!(&parsed.document, Some(Document::Agent(_))) {
            assert!(taken, "{}", path.display());
        }
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        verdicts.push((taken, name));
    }
    let refused: Vec<String> = (verdicts.into_iter())
        .filter(|(taken, _)| !taken)
        .map(|(_, name)| name)
        .collect();
    assert_eq!(
        refused,
        ["no_name", "not_a_mapping", "unknown_keys", "wrong_values"]
    );
}
