//! `/metrics`, metrics over OTLP, and health.

use deft_testkit::Script;
use serde_json::{Value, json};

use super::referee::{OtlpReceiver, parse_page};
use crate::api::client::Api;
use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::{World, server};

const SKILL: &str = "\
name: report
description: Reports
schedule: \"0 8 1 1 *\"
steps:
  - {id: fetch, tool: demo.fetch}
  - {id: fail, tool: demo.broken, on_error: continue}
";

fn configured(more: &str) -> World {
    let world = used_home();
    let script = Script::new()
        .tool(
            "fetch",
            json!({"text": "x", "annotations": {"readOnlyHint": true}}),
        )
        .tool("broken", json!({"error": "no such page"}));
    let servers = server(&world, &script);
    world.write("home/config.toml", servers + more);
    world.write("home/skills/report.yaml", SKILL);
    world
}

/// Returns the value of a sample, or null without one.
pub(super) fn sample(page: &Value, family: &str, name: &str, labels: &Value) -> Value {
    let samples = page[family]["samples"].as_array().into_iter().flatten();
    let mut samples = samples.filter(|it| it[0] == name && it[1] == *labels);
    samples.next().map_or(Value::Null, |it| it[2].clone())
}

#[test]
fn prometheus_reads_the_page() {
    let world = configured("");
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    // A run of the daemon, and one of another process.
    let body = json!({"skill": "report"}).to_string();
    let headers = [("Content-Type", "application/json")];
    let reply = api.send("POST", "/api/v1/runs?wait=20", &headers, body.as_bytes());
    assert_eq!(reply.status, 200);
    world.run(&["run", "report"]);
    let reply = api.get("/metrics");
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.header("content-type"),
        Some("text/plain; version=0.0.4; charset=utf-8")
    );
    let page = parse_page(&reply.body);
    for trigger in ["api", "cli"] {
        let labels =
            json!({"skill": "report", "tier": "workflow", "trigger": trigger, "status": "success"});
        let runs = sample(&page, "deft_skill_runs", "deft_skill_runs_total", &labels);
        assert_eq!(runs, 1.0, "{page}");
    }
    let duration = "deft_skill_run_duration_seconds";
    let labels = json!({"skill": "report", "tier": "workflow"});
    assert_eq!(page[duration]["type"], "histogram");
    let count = format!("{duration}_count");
    assert_eq!(sample(&page, duration, &count, &labels), 2.0);
    let labels = json!({"skill": "report", "tier": "workflow", "le": "+Inf"});
    let bucket = format!("{duration}_bucket");
    assert_eq!(sample(&page, duration, &bucket, &labels), 2.0);
    for (tool, outcome) in [("fetch", "success"), ("broken", "tool_error")] {
        let labels = json!({"server": "demo", "tool": tool, "outcome": outcome});
        let calls = sample(&page, "deft_tool_calls", "deft_tool_calls_total", &labels);
        assert_eq!(calls, 2.0, "{page}");
        let duration = "deft_tool_call_duration_seconds";
        let labels = json!({"server": "demo", "tool": tool});
        let count = sample(&page, duration, &format!("{duration}_count"), &labels);
        assert_eq!(count, 2.0, "{page}");
    }
    let gauge = |name: &str, labels: Value| sample(&page, name, name, &labels);
    assert_eq!(gauge("deft_mcp_server_up", json!({"server": "demo"})), 1.0);
    assert_eq!(gauge("deft_approvals_pending", json!({})), 0.0);
    assert_eq!(gauge("deft_ws_clients", json!({})), 0.0);
    for (state, value) in [("up", 1.0), ("new", 0.0), ("paused", 0.0)] {
        let labels = json!({"skill": "report", "state": state});
        assert_eq!(gauge("deft_schedule_state", labels), value, "{state}");
    }
    let next = gauge(
        "deft_schedule_next_fire_timestamp_seconds",
        json!({"skill": "report"}),
    );
    assert!(next.as_f64().unwrap() > 1.7e9, "{next}");
    let version = json!({"version": env!("CARGO_PKG_VERSION")});
    assert_eq!(gauge("deft_build_info", version), 1.0);
    let all = page.as_object().unwrap().keys();
    assert!(
        all.into_iter().all(|name| name.starts_with("deft_")),
        "{page}"
    );
    // The counters continue from their previous values.
    world.run(&["run", "report"]);
    let page = parse_page(&api.get("/metrics").body);
    let labels =
        json!({"skill": "report", "tier": "workflow", "trigger": "cli", "status": "success"});
    assert_eq!(
        sample(&page, "deft_skill_runs", "deft_skill_runs_total", &labels),
        2.0
    );
    daemon.stop();
}

/// A server that cannot start is down, and exported spans are counted.
#[test]
fn servers_and_exports_are_counted() {
    let receiver = OtlpReceiver::start(0);
    let more = format!(
        "[telemetry]\nendpoint = {}\nmetrics = false\n\
         [mcp_servers.missing]\ncommand = \"nothing-of-this-name\"\n",
        json!(receiver.url)
    );
    let world = configured(&more);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let body = json!({"skill": "report"}).to_string();
    let headers = [("Content-Type", "application/json")];
    api.send("POST", "/api/v1/runs?wait=20", &headers, body.as_bytes());
    assert_eq!(receiver.spans().len(), 3);
    world.output(&["mcp", "probe", "missing"]);
    let page = wait_for("the counters", || {
        let page = parse_page(&api.get("/metrics").body);
        let exported = "deft_telemetry_spans_exported";
        let total = sample(&page, exported, &format!("{exported}_total"), &json!({}));
        (total == 3.0).then_some(page)
    });
    let dropped = "deft_telemetry_spans_dropped";
    let dropped = sample(&page, dropped, &format!("{dropped}_total"), &json!({}));
    assert_eq!(dropped, 0.0, "{page}");
    let up = "deft_mcp_server_up";
    let down = sample(&page, up, up, &json!({"server": "missing"}));
    assert_eq!(down, 0.0, "{page}");
    daemon.stop();
}

#[test]
fn the_metrics_page_needs_a_token_unless_public() {
    for (more, status) in [("", 401), ("[telemetry]\nopen_metrics = true\n", 200)] {
        let world = configured(more);
        let daemon = Daemon::start(&world);
        let stranger = Api {
            token: "deft_wrong".to_owned(),
            ..Api::find(&world)
        };
        assert_eq!(stranger.get("/metrics").status, status);
        assert_eq!(stranger.get("/api/v1/runs").status, 401);
        daemon.stop();
    }
}

/// The daemon exports metrics once more when it stops.
#[test]
fn metrics_are_exported_over_otlp() {
    let receiver = OtlpReceiver::start(0);
    let more = format!(
        "[telemetry]\nendpoint = {}\ntraces = false\nmetrics_interval = \"1h\"\n",
        json!(receiver.url)
    );
    let world = configured(&more);
    let daemon = Daemon::start(&world);
    world.run(&["run", "report"]);
    daemon.stop();
    let got = receiver.next();
    let metrics = got["metrics"].as_array().unwrap();
    let metric = |name: &str| {
        let found = metrics.iter().find(|metric| metric["name"] == name);
        found.unwrap_or_else(|| panic!("no metric `{name}`: {got}"))
    };
    assert_eq!(
        *metric("deft.skill.runs"),
        json!({"name": "deft.skill.runs", "unit": "{run}", "kind": "sum", "points": [{
            "attributes": {"skill": "report", "tier": "workflow", "trigger": "cli", "status": "success"},
            "value": 1.0,
        }]})
    );
    assert_eq!(
        *metric("mcp.client.operation.duration"),
        json!({"name": "mcp.client.operation.duration", "unit": "s", "kind": "histogram", "points": [
            {"attributes": {"mcp.method.name": "tools/call", "gen_ai.tool.name": "broken",
                "error.type": "tool_error"}, "value": 1},
            {"attributes": {"mcp.method.name": "tools/call", "gen_ai.tool.name": "fetch"}, "value": 1},
        ]})
    );
    assert_eq!(metric("deft.build.info")["kind"], "gauge");
}
