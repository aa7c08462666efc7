//! `/metrics` after a model, notices, schedules, approvals and clients of the feed have left their marks.

use deft_testkit::ModelAnswer;
use serde_json::{Value, json};

use super::metrics::sample;
use super::referee::parse_page;
use crate::api::client::Api;
use crate::api::socket::Socket;
use crate::chat_support::{home, model};
use crate::daemon::{Daemon, wait_for};

const ASKING: &str = "name: asking\ndescription: Asks first\nsteps:\n  - {id: say, tool: log, args: {message: done}}\nconfirmations:\n  - {step: say, message: \"Continue?\"}\n";

/// Fails in the second after its slot.
fn failing() -> Value {
    json!({
        "name": "failing",
        "instructions": "fails",
        "trigger_config": {"at": jiff::Timestamp::now() + jiff::SignedDuration::from_secs(1)},
        "execution_plan": [{"id": "step1", "toolName": "time.now", "parameters": {"zone": "Mars/Base"}}],
        "notify_on_completion": false,
    })
}

#[test]
fn the_metrics_page_counts_runs_and_calls() {
    let server = model([ModelAnswer::text("Hello, Ada.").usage(20, 0, 4)]);
    let world = home(&server, "");
    world.write("home/skills/asking.yaml", ASKING);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let post = |path: &str, body: Value| {
        let headers = [("Content-Type", "application/json")];
        let reply = api.send("POST", path, &headers, body.to_string().as_bytes());
        assert!(reply.status < 300, "{path}: {}", reply.json());
        reply.json()
    };
    let socket = Socket::open(&api, &format!("/ws?token={}", api.token));
    post("/api/v1/chats", json!({"text": "I am Ada"}));
    post("/api/v1/runs?wait=20", json!({"skill": "asking"}));
    let told = json!({"arguments": {"message": "a notice"}});
    post("/api/v1/tools/notify/call", told);
    let stored = json!({"arguments": failing()});
    post("/api/v1/tools/memory_store_skill/call", stored);
    let page = wait_for("the failed slot and the notice", || {
        let page = parse_page(&api.get("/metrics").body);
        let failures = sample(
            &page,
            "deft_skill_consecutive_failures",
            "deft_skill_consecutive_failures",
            &json!({"skill": "failing"}),
        );
        let sent = sample(
            &page,
            "deft_deliveries",
            "deft_deliveries_total",
            &json!({"status": "sent"}),
        );
        (failures == 1.0 && sent.as_f64() >= Some(1.0)).then_some(page)
    });
    let model = json!({"provider": "openai", "model": "double"});
    for (family, more, expected) in [
        ("deft_llm_tokens", json!({"type": "input"}), 20.0),
        ("deft_llm_tokens", json!({"type": "output"}), 4.0),
        ("deft_llm_cost_usd", json!({}), 0.028),
    ] {
        let mut labels = model.clone();
        let labels = labels.as_object_mut().unwrap();
        labels.extend(more.as_object().unwrap().clone());
        let name = format!("{family}_total");
        let value = sample(&page, family, &name, &json!(labels));
        let value = value.as_f64().unwrap_or_default();
        assert!((value - expected).abs() < 1e-9, "{family}: {page}");
    }
    let gauge = |name: &str| sample(&page, name, name, &json!({}));
    assert_eq!(gauge("deft_approvals_pending"), 1.0);
    assert_eq!(gauge("deft_ws_clients"), 1.0);
    let lag = "deft_schedule_lag_seconds";
    let labels = json!({"skill": "failing"});
    let count = sample(&page, lag, &format!("{lag}_count"), &labels);
    let seconds = sample(&page, lag, &format!("{lag}_sum"), &labels);
    assert_eq!(count, 1.0, "{page}");
    assert!(
        (0.0..60.0).contains(&seconds.as_f64().unwrap()),
        "{seconds}"
    );
    drop(socket);
    daemon.stop();
}
