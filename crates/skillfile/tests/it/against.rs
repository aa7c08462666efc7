//! Checks of skills against tools and other skills (capability "tool-aware checks").

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_skillfile::{
    Document, Lines, Profile, Surroundings, check_against, check_page, skills_run_by,
};
use serde_json::json;

use crate::support::parse_at;

fn known() -> Surroundings {
    let send = json!({"type": "object", "properties": {
        "chat_id": {"type": "string"}, "text": {"type": "string"}, "count": {"type": "integer"},
        "mode": {"enum": ["fast", "slow"]}, "tags": {"type": "array"}
    }, "required": ["chat_id", "text"]});
    let closed = json!({"type": "object", "properties": {"id": {"type": "string"}},
        "additionalProperties": false});
    let send = Arc::new(send);
    Surroundings {
        tools: BTreeMap::from([
            ("chat_send".to_owned(), Arc::clone(&send)),
            ("demo.chat_send".to_owned(), send),
            ("lookup".to_owned(), Arc::new(closed)),
        ]),
        servers: ["demo".to_owned()].into(),
        complete: true,
        skills: Some(BTreeMap::from([
            ("demo".to_owned(), vec![]),
            ("other".to_owned(), vec!["third".to_owned()]),
            ("third".to_owned(), vec!["demo".to_owned()]),
            ("email.send".to_owned(), vec![]),
        ])),
    }
}

const FILE: &str = r#"name: demo
description: Shows one thing
required_tools: [chat_snd]
steps:
  - id: send_it
    tool: chat_send
    args: {txt: hi, count: many, mode: fats, tags: "{{ [1] }}"}
  - id: send_well
    tool: demo.chat_send
    args: {text: 3, count: "4", mode: "{{ 'fast' }}", free: 1}
  - id: look_up
    tool: lookup
    args: {whole: 1}
  - id: call_it
    tool: demo.missing
    heal: [{when: network, tool: lookpu}]
  - id: run_other
    skill: other
  - id: run_none
    skill: ohter
  - id: ask_it
    agent: Look.
    tools: [lookup, nothing_like_it]
"#;

fn found(text: &str, known: &Surroundings) -> Vec<String> {
    let parsed = parse_at("demo.yaml", text.as_bytes(), Profile::Deft);
    let Some(Document::Skill(skill)) = parsed.document else {
        panic!("{:#?}", parsed.diagnostics);
    };
    let lines = Lines::new(text);
    let one = |one: &deft_skillfile::Diagnostic| {
        let line = one
            .span
            .range()
            .map_or(0, |range| lines.position(range.start).0);
        let help = one.help.as_deref().unwrap_or("-");
        format!(
            "{line} {} {}: {} | {help}",
            one.severity.word(),
            one.rule,
            one.message
        )
    };
    check_against(text, &skill, known).iter().map(one).collect()
}

#[test]
fn tools_arguments_and_skills_are_known_or_reported() {
    insta::assert_snapshot!(found(FILE, &known()).join("\n"));
}

/// A server that never listed its tools may have any tool; unknown skills are not reported either.
#[test]
fn unknown_servers_cause_no_findings() {
    assert_eq!(found(FILE, &Surroundings::default()), Vec::<String>::new());
    let some = Surroundings {
        complete: false,
        skills: None,
        ..known()
    };
    let rules: Vec<String> = found(FILE, &some)
        .iter()
        .filter(|line| line.contains("unknown_"))
        .cloned()
        .collect();
    // `demo` has listed its tools, so a name that contains the server can be checked. A name similar to that
    // of a known tool is a misspelling.
    let expected = [
        "3 warning unknown_tool: no known tool is called `chat_snd` | did you mean `chat_send`?",
        "15 warning unknown_tool: no server provides `demo.missing` | `deft tools list` shows all tools",
        "16 warning unknown_tool: no known tool is called `lookpu` | did you mean `lookup`?",
    ];
    assert_eq!(rules, expected);
}

#[test]
fn unknown_skills_in_pages_are_reported() {
    let text = "Use `email.send --to x`, not `email.sned` or `email.md`, nor `other.thing`.\n";
    let found = check_page(text, &known(), None);
    let found: Vec<_> = found
        .iter()
        .map(|one| (one.message.as_str(), one.help.as_deref()))
        .collect();
    assert_eq!(
        found,
        [(
            "unknown skill `email.sned`",
            Some("did you mean `email.send`?")
        )]
    );
}

/// The index of a domain names its skills, also in a table, and also if the domain has no such skill (S2.7).
#[test]
fn unknown_pages_in_an_index_are_reported() {
    let text = "| Skill | What |\n|---|---|\n| notes.add | Adds |\n| email.send | Sends |\n\nTry `notes.add --text x`, `notes.find`, notes.none.\n";
    let found = check_page(text, &known(), Some("notes"));
    let found: Vec<_> = found.iter().map(|one| one.message.as_str()).collect();
    let expected = ["unknown skill `notes.add`", "unknown skill `notes.find`"];
    assert_eq!(found, expected);
}

#[test]
fn called_skills_are_listed() {
    let text = "name: demo\ndescription: d\nsteps:\n  - {id: a_one, skill: x}\n  - {id: b_one, skill: \"{{ a_one }}\"}\n";
    let parsed = parse_at("demo.yaml", text.as_bytes(), Profile::Deft);
    let Some(Document::Skill(skill)) = parsed.document else {
        panic!("{:#?}", parsed.diagnostics);
    };
    assert_eq!(skills_run_by(&skill), ["x"]);
}
