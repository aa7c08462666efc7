//! Tests for the public form of runs.

use deft_model::{Cause, Outcome, RunId, RunStatus, WaitKind};
use deft_store::{RunRow, WaitReason};
use serde_json::{Value, json};

use crate::run_view;

/// A failed run with every field set.
fn failed_run() -> RunRow {
    let at = |text: &str| text.parse().unwrap();
    RunRow {
        id: RunId::new("run_1"),
        skill: "demo".to_owned(),
        revision: "r".to_owned(),
        tier: deft_model::Tier::Workflow,
        agent_id: "main".to_owned(),
        cause: Cause::Schedule,
        slot: Some(at("2026-01-26T13:00:00Z")),
        slot_until: Some(at("2026-01-26T14:00:00Z")),
        slot_count: 2,
        key: Some("k".to_owned()),
        parent: Some(RunId::new("run_0")),
        status: RunStatus::Done,
        outcome: Some(Outcome::Error),
        inputs: r#"{"z": 1, "a": [1.5, null]}"#.to_owned(),
        outputs: Some(r#"{"text": "x"}"#.to_owned()),
        error: Some(
            json!({"class": "invalid", "code": "missing_flags", "message": "no `q`", "hint": "give it",
                "in_doubt": true, "blocked": true, "outage": {"server": "mail"}, "step": "a[0]"})
            .to_string(),
        ),
        usage: Some(
            json!({"input_tokens": 1, "output_tokens": 2, "cost_usd": 0.25, "llm_calls": 1,
                "estimated_calls": 1})
            .to_string(),
        ),
        admitted_at: at("2026-01-26T13:00:00.25Z"),
        started_at: Some(at("2026-01-26T13:00:01Z")),
        finished_at: Some(at("2026-01-26T13:00:02.5Z")),
        wake_at: None,
        waiting_for: None,
        cancel_by: None,
        owner: None,
        finish_ordinal: 1,
    }
}

/// A run that was just queued.
fn queued_run() -> RunRow {
    RunRow {
        slot: None,
        slot_until: None,
        slot_count: 1,
        key: None,
        parent: None,
        status: RunStatus::Queued,
        outcome: None,
        outputs: None,
        error: None,
        usage: None,
        started_at: None,
        finished_at: None,
        waiting_for: Some(WaitReason {
            kind: WaitKind::Answer,
            text: "its turn".to_owned(),
        }),
        ..failed_run()
    }
}

/// Every field, in the order of the public form.
const FAILED: &str = r#"{"id":"run_1","skill":"demo","revision":"r","tier":"workflow","agent_id":"main","cause":"schedule","slot":"2026-01-26T13:00:00Z","slot_until":"2026-01-26T14:00:00Z","slot_count":2,"key":"k","parent":"run_0","status":"done","outcome":"error","waiting_for":null,"inputs":{"z":1,"a":[1.5,null]},"outputs":{"text":"x"},"error":{"class":"invalid","code":"missing_flags","message":"no `q`","hint":"give it","in_doubt":true,"blocked":true,"outage":{"server":"mail"},"step":"a[0]"},"usage":{"input_tokens":1,"output_tokens":2,"cost_usd":0.25,"llm_calls":1,"estimated_calls":1},"admitted_at":"2026-01-26T13:00:00.25Z","started_at":"2026-01-26T13:00:01Z","finished_at":"2026-01-26T13:00:02.5Z","duration_ms":1500}"#;

/// The public form of a run that has not started.
const QUEUED: &str = r#"{"id":"run_1","skill":"demo","revision":"r","tier":"workflow","agent_id":"main","cause":"schedule","slot":null,"slot_until":null,"slot_count":1,"key":null,"parent":null,"status":"queued","outcome":null,"waiting_for":"its turn","inputs":{"z":1,"a":[1.5,null]},"outputs":null,"error":null,"usage":{"input_tokens":0,"output_tokens":0,"cost_usd":0.0,"llm_calls":0},"admitted_at":"2026-01-26T13:00:00.25Z","started_at":null,"finished_at":null,"duration_ms":null}"#;

#[test]
fn a_row_fills_every_field_of_its_shape() {
    for (row, expected) in [(failed_run(), FAILED), (queued_run(), QUEUED)] {
        let shown = serde_json::to_string(&run_view(&row).unwrap()).unwrap();
        assert_eq!(shown, expected);
    }
}

#[test]
fn secrets_are_shown_by_name() {
    let secret = deft_workflow::placeholder("nonce", "mail");
    let row = RunRow {
        inputs: json!({"key": secret, "list": [format!("x{secret}")]}).to_string(),
        error: Some(json!({"class": "other", "message": secret}).to_string()),
        waiting_for: Some(WaitReason {
            kind: WaitKind::Answer,
            text: secret,
        }),
        ..failed_run()
    };
    let run = run_view(&row).unwrap();
    assert_eq!(
        (
            run.inputs,
            run.error.map(|error| error.message),
            run.waiting_for
        ),
        (
            json!({"key": "[secret mail]", "list": ["x[secret mail]"]}),
            Some("[secret mail]".to_owned()),
            Some("[secret mail]".to_owned()),
        )
    );
}

/// An unreadable row is an error that names its run.
#[test]
fn an_unreadable_row_names_its_run() {
    let row = RunRow {
        outputs: Some("{".to_owned()),
        ..failed_run()
    };
    let error = run_view(&row).unwrap_err();
    assert_eq!(
        error.to_string(),
        "run `run_1`: its outputs cannot be read: EOF while parsing an object at line 1 column 1"
    );
    assert_eq!(
        run_view(&failed_run()).unwrap().outputs,
        json!({"text": "x"})
    );
    assert_eq!(run_view(&queued_run()).unwrap().outputs, Value::Null);
}
