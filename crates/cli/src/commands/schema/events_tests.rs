//! Real events against the schema.

use deft_workflow::public;
use serde_json::{Value, json};

use super::{KINDS, schema};

/// Events as they are stored: one of every form that has a public face.
fn stored() -> Vec<Value> {
    let failure = json!({"class": "network", "message": "gone"});
    let begun = |path: &str, attempt: u32, call: Value| json!({"begun": {"path": path, "attempt": attempt, "call": call, "effects": "once"}});
    let ended = |path: &str, next: Value| json!({"ended": {"path": path, "attempt": 1, "error": failure, "next": next, "ms": 12}});
    let finished = |outcome: &str, error: Value| json!({"finished": {"outcome": outcome, "outputs": {"a": 1}, "error": error, "ms": 1500}});
    let tool = json!({"tool": {"tool": "echo", "args": {"text": "x"}}});
    let heal = json!({"heal": {"ordinal": 1, "class": "auth", "tool": "login", "args": {}}});
    vec![
        json!({"started": {"skill": "s", "revision": "r", "execution_id": "e",
            "workspace_uri": "", "inputs": {"q": 1}, "nonce": "n"}}),
        json!({"listed": {"path": "a", "step_type": "tool", "items": [1, 2]}}),
        begun("a", 1, tool.clone()),
        begun("a", 2, tool),
        begun("a[0]", 1, json!("compute")),
        begun("b", 1, json!({"skill": {"skill": "other", "args": {}}})),
        json!({"ended": {"path": "a", "attempt": 1, "value": {"x": 1}, "next": "done", "ms": 3}}),
        json!({"ended": {"path": "a[0]", "attempt": 1, "value": 1, "next": "done", "ms": 3}}),
        ended("a", json!("fail")),
        ended("a", json!({"retry": {"at": "2026-11-15T12:00:00Z"}})),
        ended("a", heal),
        json!({"healed": {"path": "a", "next": "done", "ms": 4}}),
        json!({"skipped": {"path": "a", "reason": "not needed"}}),
        json!({"skipped": {"path": "a[1]", "reason": "not needed"}}),
        json!({"reused": {"path": "a", "value": 1}}),
        json!({"reused": {"path": "a", "value": null}}),
        json!({"closed": {"path": "a", "values": [1, null], "ms": 9}}),
        json!({"asked": {"path": "a", "message": "send it?", "default": true,
            "operation": {"kind": "tool", "name": "send", "args": {}}}}),
        json!({"answered": {"path": "a", "answer": "skip", "by": "me"}}),
        json!({"resumed": {"by": "me"}}),
        finished("success", Value::Null),
        finished(
            "error",
            json!({"class": "network", "message": "gone", "step": "a"}),
        ),
        finished(
            "blocked",
            json!({"class": "not_found", "message": "no tool"}),
        ),
        finished(
            "cancelled",
            json!({"class": "cancelled", "message": "stopped"}),
        ),
        finished("skipped", Value::Null),
        finished("missed", Value::Null),
    ]
}

fn shown(seq: usize, stored: &Value) -> Value {
    let event = serde_json::from_value(stored.clone())
        .unwrap_or_else(|problem| panic!("{problem}: {stored}"));
    let (kind, fields) = public(&event).unwrap_or_else(|| panic!("not public: {stored}"));
    let mut event = json!({"type": kind, "seq": seq, "at": "2026-11-15T12:00:00Z",
        "execution_id": "e", "skill": "s"});
    for (name, value) in fields {
        event[name] = value;
    }
    event
}

#[test]
fn public_events_fit_the_schema() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut seen = Vec::new();
    for (seq, stored) in stored().into_iter().enumerate() {
        let event = shown(seq, &stored);
        let problems: Vec<String> = validator
            .iter_errors(&event)
            .map(|e| e.to_string())
            .collect();
        assert!(problems.is_empty(), "{event:#}: {problems:?}");
        seen.push(event["type"].as_str().unwrap().to_owned());
    }
    let unseen: Vec<&str> = KINDS
        .iter()
        .map(|kind| kind.name)
        .filter(|name| !seen.iter().any(|seen| seen == name))
        .collect();
    // These are not events of a run, or come with later parts.
    assert_eq!(unseen, ["notice_sent", "notice_failed", "resync"]);
}

#[test]
fn what_is_no_event_does_not_fit() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let base = json!({"seq": 1, "at": "2026-11-15T12:00:00Z", "execution_id": "e", "skill": "s"});
    for (kind, fields) in [
        ("skill_began", json!({})),
        ("step_skipped", json!({"step_id": "a"})),
        ("skill_failed", json!({"error": 1})),
    ] {
        let mut event = base.clone();
        event["type"] = json!(kind);
        for (name, value) in fields.as_object().unwrap() {
            event[name] = value.clone();
        }
        assert!(!validator.is_valid(&event), "{event}");
    }
}
