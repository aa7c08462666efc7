//! Tests that secrets are masked in values that leave the engine.

use deft_wire::dry_run::DryRun;
use deft_wire::run::{JournalLine, RunDetail};
use deft_wire::skill::StoredSkill;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::mask::Mask;

/// Documents with `§` wherever a user, a skill or a result may have put a secret.
const RUN: &str = r#"{"id":"run_1","skill":"demo","revision":"r","tier":"workflow","agent_id":"main","cause":"§","slot":null,"slot_until":null,"slot_count":1,"key":"§","parent":null,"status":"done","outcome":"error","waiting_for":"§","inputs":{"a":["x§"]},"outputs":"§","error":{"class":"other","message":"§","hint":"§","outage":{"tool":"§"},"step":"§"},"usage":{"input_tokens":0,"output_tokens":0,"cost_usd":0.0,"llm_calls":0},"admitted_at":"2026-01-26T13:00:00Z","started_at":null,"finished_at":null,"duration_ms":null,"check_failed":"§","steps":[{"id":"a","type":"tool","status":"error","reason":"§","attempts":1,"result":{"b":"§"},"error":{"class":"other","message":"§","hint":"§"},"started_at":null,"duration_ms":null,"warnings":["§"]}],"calls":[{"step_id":"a","depth":0,"tool":"§","args":{"c":"§"},"status":"error","answered_by":"§","note":"§","duration_ms":null}],"notices":[{"id":1,"kind":"§","status":"sent","attempts":1,"receipt":"§","error":"§"}]}"#;
const LINE: &str = r#"{"seq":1,"at":"2026-01-26T13:00:00Z","event":{"a":["§"]}}"#;
const SKILL: &str = r#"{"id":"water","record_id":7,"agent_id":"default","name":"§","description":"§","tier":"direct","dialect":"record","origin":"record","revision":"c3","enabled":true,"disabled_reason":null,"trigger":{"type":"cron","config":{"a":"§"},"words":"§","next":[]},"required_tools":["§"],"missing_tools":["§"],"last_run_at":null,"last_run_status":null,"last_run_summary":"§","trigger_type":"cron","trigger_config":{"a":"§"},"instructions":"§","execution_plan":[{"tool":"§"}],"max_steps":50,"notify_on_completion":true,"notify_interval_minutes":0,"failures":0,"backoff_until":null,"last_notified_at":null,"created_at":null,"updated_at":null,"grants":["§"]}"#;
const DRY: &str = r#"{"diagnostics":[{"rule":"x","severity":"error","message":"§","help":"§"}],"skill":"demo","revision":"r","tier":"workflow","inputs":{"a":"§"},"steps":[{"id":"a","type":"tool","wave":1,"verdict":"run","condition":"§","name":"§","args":{"b":"§"},"unknown":["§"],"effects":"once","confirm":"§","loop":{"var":"item","concurrency":1,"items":["§"]},"on_error":"fail","problems":["§"]}],"dry_run":true}"#;

fn check<T: Mask + Serialize + DeserializeOwned>(document: &str) {
    let secret = crate::placeholder("nonce", "mail");
    let secret = serde_json::to_string(&secret).unwrap();
    let given = document.replace('§', secret.trim_matches('"'));
    let mut shape: T = serde_json::from_str(&given).unwrap();
    shape.mask();
    let shown = serde_json::to_string(&shape).unwrap();
    assert_eq!(shown, document.replace('§', "[secret mail]"));
}

#[test]
fn secrets_are_shown_by_name_in_every_shape() {
    check::<RunDetail>(RUN);
    check::<JournalLine>(LINE);
    check::<StoredSkill>(SKILL);
    check::<DryRun>(DRY);
}
