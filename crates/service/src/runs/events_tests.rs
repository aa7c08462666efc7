//! Validates stored events against their public schema and types.

use deft_engine::PublishedEvent;
use deft_wire::event::EventView;
use deft_wire::event_schema;
use serde_json::{Value, json};

/// Stored events: one of every form that is public.
fn stored_events() -> Vec<Value> {
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
        json!({"recovered": {"interrupted_at": "2026-11-15T11:59:00Z"}}),
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

/// Stored events of agents: one of every form that is public.
fn stored_by_agents() -> Vec<Value> {
    let failure = json!({"class": "network", "message": "gone"});
    let setup = json!({"agent": "main", "model": "m", "mode": "tools", "system": [], "task": "do it",
        "limits": deft_agent::Limits::default()});
    let what = [
        json!({"began": setup}),
        json!({"finished": {"text": "done"}}),
        json!({"dispatched": {"turn": 1, "call": 0,
            "dispatch": {"agent_id": "helper", "mission": "look"}}}),
        json!({"replied": {"turn": 1, "reply": {"text": "hi", "usage": {"input": 3, "output": 4}},
            "model": "m", "cost_usd": 0.25, "ms": 7}}),
        json!({"replied": {"turn": 1, "reply": {"text": "hi", "usage": {"input": 3, "output": 4}},
            "model": "m", "ms": 7}}),
        json!({"silent": {"turn": 1, "failure": failure}}),
        json!({"told": {"turn": 1, "call": 0, "name": "t", "how": "text", "text": "x"}}),
        json!({"told": {"turn": 1, "call": 0, "name": "t", "how": "refused", "text": "x"}}),
        json!({"question": {"turn": 1, "call": 0, "tool": "t", "args": {"a": 1}, "message": "sure?",
            "effects": "once"}}),
        json!({"answered": {"turn": 1, "call": 0, "yes": true, "by": "me"}}),
        json!({"called": {"turn": 1, "call": 0, "tool": "t", "args": {"a": 1}, "effects": "once"}}),
        json!({"returned": {"turn": 1, "call": 0, "value": {"x": 1}, "ms": 5}}),
        json!({"returned": {"turn": 1, "call": 0, "error": failure, "ms": 5}}),
    ];
    // Only the end of a dispatched agent has a result.
    what.into_iter()
        .map(|what| json!({"agent": {"path": "a", "event": {"agent": "1.0", "what": what}}}))
        .collect()
}

fn show_event(seq: usize, stored: &Value) -> Value {
    let event = serde_json::from_value(stored.clone())
        .unwrap_or_else(|problem| panic!("{problem}: {stored}"));
    let published = PublishedEvent {
        seq: u64::try_from(seq).unwrap(),
        at: "2026-11-15T12:00:00Z".parse().unwrap(),
        run: deft_model::RunId::new("e"),
        skill: "s".to_owned(),
        event,
    };
    let public = published.public();
    json!(public.unwrap_or_else(|| panic!("not public: {stored}")))
}

#[test]
fn public_events_fit_the_schema() {
    let schema = event_schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut seen = Vec::new();
    let all = stored_events().into_iter().chain(stored_by_agents());
    for (seq, stored) in all.enumerate() {
        let event = show_event(seq, &stored);
        let problems: Vec<String> = validator
            .iter_errors(&event)
            .map(|e| e.to_string())
            .collect();
        assert!(problems.is_empty(), "{event:#}: {problems:?}");
        seen.push(event["type"].as_str().unwrap().to_owned());
    }
    let groups = schema["anyOf"].as_array().unwrap().iter();
    let kinds = groups.flat_map(|group| group["oneOf"].as_array().unwrap());
    let names = kinds.map(|kind| kind["properties"]["type"]["const"].as_str().unwrap());
    let unseen: Vec<&str> = names
        .filter(|name| !seen.iter().any(|seen| seen == name))
        .collect();
    // These are not events of a run, or belong to future parts.
    assert_eq!(unseen, ["notice_sent", "notice_failed", "resync"]);
}

#[test]
fn typed_events_keep_the_order_of_fields() {
    let all = stored_events().into_iter().chain(stored_by_agents());
    for (seq, stored) in all.enumerate() {
        let event = show_event(seq, &stored);
        let typed: EventView = serde_json::from_value(event.clone())
            .unwrap_or_else(|problem| panic!("{problem}: {event}"));
        let again = serde_json::to_string(&typed).unwrap();
        assert_eq!(again, event.to_string());
    }
}

#[test]
fn invalid_events_do_not_fit_the_schema() {
    let validator = jsonschema::validator_for(&event_schema()).unwrap();
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
