//! Traces: one per run, even if several processes drove it, below the span of its caller.

use std::process::Stdio;

use deft_testkit::{ModelAnswer, Script, witness};
use serde_json::{Value, json};

use super::referee::OtlpReceiver;
use crate::api::client::Api;
use crate::chat_support::{model, section};
use crate::daemon::{Daemon, ended, used_home, wait_for};
use crate::support::{World, server};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// Calls a tool, then runs an agent that calls another tool, which fails.
const WORKFLOW: &str = "\
name: report
description: Reports
steps:
  - {id: fetch, tool: demo.fetch, args: {what: mail}}
  - {id: think, agent: \"Look at {{ fetch }}\", tools: [demo.broken]}
outputs: {meta: \"{{ fetch }}\"}
";

fn parent() -> String {
    format!("00-{TRACE}-{CALLER}-01")
}

fn configured(receiver: &str, more: &str) -> World {
    let world = used_home();
    let script = Script::new()
        .tool(
            "fetch",
            json!({"meta": true, "annotations": {"readOnlyHint": true}}),
        )
        .tool(
            "broken",
            json!({"error": "no such page", "annotations": {"readOnlyHint": true}}),
        )
        .tool(
            "slow",
            json!({"hang": true, "annotations": {"readOnlyHint": true}}),
        );
    let servers = server(&world, &script);
    let telemetry = format!(
        "[telemetry]\nendpoint = {}\nheaders = {{ Api-Key = \"env:RECEIVER_KEY\" }}\nmetrics = false\n{more}\n",
        json!(receiver)
    );
    world.write("home/config.toml", telemetry + &servers);
    world.write("home/skills/report.yaml", WORKFLOW);
    world
}

/// Returns the parts of spans that are the same in every run.
fn outline(spans: &[Value]) -> Vec<Value> {
    let name = |id: &Value| {
        let found = spans.iter().find(|span| span["id"] == *id);
        found.map_or_else(|| id.clone(), |span| span["name"].clone())
    };
    let spans = spans.iter();
    spans
        .map(|span| {
            json!({"name": span["name"], "kind": span["kind"], "parent": name(&span["parent"]),
                "failed": span["failed"]})
        })
        .collect()
}

fn find<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    let found = spans.iter().find(|span| span["name"] == name);
    found.unwrap_or_else(|| panic!("no span `{name}`: {spans:?}"))
}

#[test]
fn a_run_is_one_trace_below_its_caller() {
    let receiver = OtlpReceiver::start(1);
    let model = model([
        ModelAnswer::call("demo_broken", json!({})).usage(10, 0, 5),
        ModelAnswer::text("done"),
    ]);
    let world = configured(&receiver.url, "");
    let config = world.read("home/config.toml");
    world.write("home/config.toml", section(&model.url) + &config);
    let output = world
        .command(&["run", "report", "--json"])
        .env("RECEIVER_KEY", "k3y")
        .env("TRACEPARENT", parent())
        .env("TRACESTATE", "vendor=1")
        .env("OTEL_SERVICE_NAME", "deft-test")
        .env(
            "OTEL_RESOURCE_ATTRIBUTES",
            "deployment.environment.name=test",
        )
        .output()
        .unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(run["outcome"], "success", "{run}");
    let got = receiver.next();
    assert_eq!(got["key"], "k3y");
    assert_eq!(
        got["resource"],
        json!([{"service.name": "deft-test", "service.version": env!("CARGO_PKG_VERSION"),
            "deployment.environment.name": "test"}])
    );
    let mut spans = got["spans"].as_array().unwrap().clone();
    spans.sort_by_key(|span| span["name"].to_string());
    assert_eq!(
        json!(outline(&spans)),
        json!([
            {"name": "chat double", "kind": "CLIENT", "parent": "invoke_agent thinker", "failed": false},
            {"name": "chat double", "kind": "CLIENT", "parent": "invoke_agent thinker", "failed": false},
            {"name": "invoke_agent thinker", "kind": "INTERNAL", "parent": "invoke_workflow report", "failed": false},
            {"name": "invoke_workflow report", "kind": "INTERNAL", "parent": CALLER, "failed": false},
            {"name": "tools/call broken", "kind": "CLIENT", "parent": "invoke_agent thinker", "failed": true},
            {"name": "tools/call fetch", "kind": "CLIENT", "parent": "invoke_workflow report", "failed": false},
        ])
    );
    for span in &spans {
        assert_eq!(
            (&span["trace"], &span["state"]),
            (&json!(TRACE), &json!("vendor=1"))
        );
        assert_eq!(span["attributes"]["deft.run.id"], run["id"], "{span}");
        assert_eq!(
            span["message"], "",
            "content is exported only if that is wanted"
        );
    }
    let broken = &find(&spans, "tools/call broken")["attributes"];
    assert_eq!(broken["error.type"], "tool_error");
    assert_eq!(broken["mcp.method.name"], "tools/call");
    assert_eq!(broken["gen_ai.operation.name"], "execute_tool");
    assert_eq!(broken["gen_ai.tool.name"], "broken");
    assert_eq!(broken["deft.tool.server"], "demo");
    assert_eq!(broken.get("gen_ai.tool.call.arguments"), None);
    let asked = spans.iter().filter(|span| span["name"] == "chat double");
    let asked: Vec<&Value> = asked.map(|span| &span["attributes"]).collect();
    assert!(
        asked.iter().any(|it| it["gen_ai.usage.input_tokens"] == 10),
        "{asked:?}"
    );
    assert_eq!(asked[0]["gen_ai.provider.name"], "openai");
    // Providers of models get no trace context, which would name the caller.
    for request in model.http_requests() {
        let mut names = request.headers.iter().map(|(name, _)| name.as_str());
        assert!(!names.any(|name| name.starts_with("trace")), "{request:?}");
    }
    // The tool received its own span.
    let fetch = find(&spans, "tools/call fetch");
    let carried = format!("00-{TRACE}-{}-01", fetch["id"].as_str().unwrap());
    assert_eq!(run["outputs"]["meta"]["traceparent"], carried, "{run}");
    assert_eq!(run["outputs"]["meta"]["tracestate"], "vendor=1");
    let export = doctor_check(&world, "telemetry.export");
    assert_eq!(export["status"], "ok", "{export}");
    assert!(
        export["message"].as_str().unwrap().contains("6 spans"),
        "{export}"
    );
}

/// The process that started the run is killed during a tool call; a daemon resumes the run.
#[test]
fn a_run_that_another_process_resumes_is_one_trace() {
    let receiver = OtlpReceiver::start(0);
    let world = configured(&receiver.url, "content = true\n");
    let skill = "name: report\ndescription: Reports\nsteps:\n  - {id: first, tool: demo.fetch}\n  \
                 - {id: second, tool: demo.slow, timeout: 20s}\n";
    world.write("home/skills/report.yaml", skill);
    let mut killed = world
        .command(&["run", "report", "--json"])
        .env("RECEIVER_KEY", "k3y")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let log = world.path("server/demo.log");
    wait_for("the second call", || {
        witness(&log).iter().find(|it| it.tool == "slow").map(drop)
    });
    // The result of a call without effects is stored with a delay.
    wait_for("the first result", || {
        let shown = world.json(&["runs", "show", "last", "--json"]);
        (shown["run"]["steps"][1]["status"] == "running").then_some(())
    });
    killed.kill().unwrap();
    killed.wait().unwrap();
    // From now on the tool responds.
    let script = Script::new()
        .tool(
            "fetch",
            json!({"meta": true, "annotations": {"readOnlyHint": true}}),
        )
        .tool(
            "slow",
            json!({"text": "slow", "annotations": {"readOnlyHint": true}}),
        );
    server(&world, &script);
    let daemon = Daemon::with(&world, &[], &[("RECEIVER_KEY", "k3y")]);
    let spans = receiver.spans();
    assert_eq!(
        json!(outline(&spans)),
        json!([
            {"name": "skill report", "kind": "INTERNAL", "parent": "", "failed": false},
            {"name": "tools/call fetch", "kind": "CLIENT", "parent": "skill report", "failed": false},
            {"name": "tools/call slow", "kind": "CLIENT", "parent": "skill report", "failed": true},
            {"name": "tools/call slow", "kind": "CLIENT", "parent": "skill report", "failed": false},
        ])
    );
    let root = find(&spans, "skill report");
    assert_eq!(root["events"], json!(["deft.run.recovered"]));
    let id = root["attributes"]["deft.run.id"].as_str().unwrap();
    assert_eq!(root["trace"], id.trim_start_matches("run_"));
    let retried = spans
        .iter()
        .filter(|span| span["name"] == "tools/call slow");
    let retried: Vec<&Value> = retried.map(|span| &span["attributes"]).collect();
    assert_eq!(retried[0]["error.type"], "interrupted");
    assert_eq!(retried[1]["gen_ai.tool.call.result"], "slow");
    daemon.stop();
    assert!(receiver.waiting().is_empty(), "a trace is exported once");
}

/// The API and MCP use the span of the client as the parent; an unsampled span is passed on but not recorded.
#[test]
fn clients_of_the_api_and_of_mcp_are_callers() {
    let receiver = OtlpReceiver::start(0);
    let world = configured(&receiver.url, "");
    let skill = "name: report\ndescription: Reports\nsteps:\n  - {id: fetch, tool: demo.fetch}\n\
                 outputs: {meta: \"{{ fetch }}\"}\n";
    world.write("home/skills/report.yaml", skill);
    let daemon = Daemon::with(&world, &[], &[("RECEIVER_KEY", "k3y")]);
    let api = Api::find(&world);
    let body = json!({"skill": "report"}).to_string();
    let start = |flags: &str| {
        let parent = format!("00-{TRACE}-{CALLER}-{flags}");
        let headers = [
            ("Content-Type", "application/json"),
            ("traceparent", parent.as_str()),
        ];
        let reply = api.send("POST", "/api/v1/runs?wait=20", &headers, body.as_bytes());
        assert_eq!(reply.status, 200);
        reply.json()["run"]["outputs"]["meta"]["traceparent"].clone()
    };
    assert_eq!(start("00"), format!("00-{TRACE}-{CALLER}-00"));
    start("01");
    let spans = receiver.spans();
    assert_eq!(
        spans.len(),
        2,
        "only the sampled run is recorded: {spans:?}"
    );
    assert_eq!(find(&spans, "skill report")["parent"], CALLER);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "skill_run", "arguments": {"skill": "report"},
        "_meta": {"traceparent": parent(),
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}},
    }});
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "skill_run"),
    ];
    let reply = api.send("POST", "/mcp", &headers, call.to_string().as_bytes());
    assert_eq!(
        reply.status,
        200,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    let spans = receiver.spans();
    let root = find(&spans, "skill report");
    assert_eq!(
        (&root["trace"], &root["parent"]),
        (&json!(TRACE), &json!(CALLER))
    );
    assert_eq!(root["attributes"]["deft.run.cause"], "mcp");
    daemon.stop();
}

/// Returns what `deft doctor` reports for a check.
fn doctor_check(world: &World, id: &str) -> Value {
    let output = world
        .command(&["doctor", "--json"])
        .env("RECEIVER_KEY", "k3y")
        .output()
        .unwrap();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = list["checks"].as_array().unwrap().clone();
    checks.into_iter().find(|check| check["id"] == id).unwrap()
}

/// If the receiver is unavailable, spans are lost but runs succeed; `deft doctor` reports it.
#[test]
fn a_silent_receiver_does_not_affect_runs() {
    let gone = {
        let receiver = OtlpReceiver::start(0);
        receiver.url.clone()
    };
    let world = configured(&gone, "");
    let skill = "name: report\ndescription: Reports\nsteps:\n  - {id: fetch, tool: log, args: {message: x}}\n";
    world.write("home/skills/report.yaml", skill);
    let daemon = Daemon::with(&world, &[], &[("RECEIVER_KEY", "k3y")]);
    let run = world.json(&["run", "report", "--detach", "--json"]);
    let run = ended(&world, run["id"].as_str().unwrap());
    assert_eq!(run["outcome"], "success");
    let export = doctor_check(&world, "telemetry.export");
    assert_eq!(export["status"], "bad", "{export}");
    let message = export["message"].as_str().unwrap();
    assert!(message.contains("does not answer"), "{message}");
    assert_eq!(doctor_check(&world, "telemetry.metrics")["status"], "ok");
    daemon.stop();
}
