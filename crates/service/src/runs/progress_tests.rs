//! Conversion of stored events into progress.

use std::time::Duration;

use deft_engine::PublishedEvent;
use deft_model::RunId;
use serde_json::{Value, json};

use super::{Change, Progress};

fn read(event: &Value) -> Option<(String, Change)> {
    let event = serde_json::from_value(event.clone())
        .unwrap_or_else(|problem| panic!("{problem}: {event}"));
    let published = PublishedEvent {
        seq: 1,
        at: "2026-11-15T12:00:00Z".parse().unwrap(),
        run: RunId::new("run_1"),
        skill: "demo".to_owned(),
        event,
    };
    Progress::read(&published).map(|progress| (progress.path, progress.change))
}

fn end_event(path: &str, next: &Value) -> Value {
    let failure = json!({"class": "network", "message": "gone"});
    json!({"ended": {"path": path, "attempt": 1, "error": failure, "next": next, "ms": 12}})
}

#[test]
fn a_failure_shows_how_it_is_handled() {
    let error = || "gone".to_owned();
    let at = "2026-11-15T12:00:00Z";
    let heal = json!({"heal": {"ordinal": 1, "class": "auth", "tool": "login", "args": {}}});
    for (next, change) in [
        (json!("fail"), Change::Failed { error: error() }),
        (json!("tolerate"), Change::Tolerated { error: error() }),
        (
            json!({"retry": {"at": at}}),
            Change::Retries {
                error: error(),
                at: at.parse().unwrap(),
            },
        ),
        (
            heal,
            Change::Heals {
                error: error(),
                tool: "login".to_owned(),
            },
        ),
    ] {
        assert_eq!(read(&end_event("a", &next)), Some(("a".to_owned(), change)));
    }
}

#[test]
fn finished_items_count_for_their_loop() {
    let over = Some(("a".to_owned(), Change::ItemEnded));
    assert_eq!(read(&end_event("a[3]", &json!("tolerate"))), over);
    let retry = json!({"retry": {"at": "2026-11-15T12:00:00Z"}});
    assert_eq!(read(&end_event("a[3]", &retry)), None);
    let skipped = json!({"skipped": {"path": "a[3]", "reason": "not needed"}});
    assert_eq!(read(&skipped), None);
}

#[test]
fn a_call_of_an_agent_is_below_its_step_and_names_secrets_only() {
    let secret = deft_workflow::placeholder("nonce", "mail");
    let agent = |what: Value| json!({"agent": {"path": "think", "event": {"what": what}}});
    let called = agent(json!({"called": {"turn": 2, "call": 1, "tool": "post",
        "args": {"key": secret}, "effects": "once"}}));
    let expected = json!({"key": "[secret mail]"});
    let change = Change::Called {
        name: "post".to_owned(),
        args: expected.as_object().unwrap().clone(),
    };
    assert_eq!(read(&called), Some(("think/2.1".to_owned(), change)));
    let returned = agent(json!({"returned": {"turn": 2, "call": 1, "value": 1, "ms": 5}}));
    let change = Change::Returned {
        took: Duration::from_millis(5),
        error: None,
    };
    assert_eq!(read(&returned), Some(("think/2.1".to_owned(), change)));
}
