//! Metrics of the conventions, missed slots, lost spans, and receivers that are disabled or do not answer.

use deft_testkit::{HttpDouble, ModelAnswer, Reaction, Script};
use serde_json::{Value, json};

use super::metrics::sample;
use super::referee::{OtlpReceiver, parse_page};
use crate::api::client::Api;
use crate::chat_support::{deft, model, section};
use crate::daemon::{Daemon, used_home, wait_for};
use crate::support::{World, server};

/// Calls a built-in tool, which an agent then does with a tool of a server.
const WORKFLOW: &str = "\
name: report
description: Reports
steps:
  - {id: look, tool: time.now}
  - {id: think, agent: \"Fetch the mail\", tools: [demo.fetch]}
";

/// Has one step and no model.
const LOG: &str =
    "name: note\ndescription: Notes\nsteps:\n  - {id: write, tool: log, args: {message: x}}\n";

fn exporting_to(url: &str, more: &str) -> String {
    format!("[telemetry]\nendpoint = {}\n{more}\n", json!(url))
}

/// Returns the points of an exported metric.
fn points(exported: &Value, name: &str) -> Value {
    let metrics = exported["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|metric| metric["name"] == name);
    found.unwrap_or_else(|| panic!("no metric `{name}`: {exported}"))["points"].clone()
}

#[test]
fn each_metric_of_the_conventions_is_exported() {
    let receiver = OtlpReceiver::start(0);
    let model = model([
        ModelAnswer::call("demo_fetch", json!({})).usage(10, 0, 5),
        ModelAnswer::text("done").usage(20, 0, 6),
    ]);
    let world = used_home();
    let fetch = json!({"text": "x", "annotations": {"readOnlyHint": true}});
    let servers = server(&world, &Script::new().tool("fetch", fetch));
    let export = exporting_to(&receiver.url, "traces = false\nmetrics_interval = \"1h\"");
    world.write("home/config.toml", section(&model.url) + &export + &servers);
    world.write("home/skills/report.yaml", WORKFLOW);
    let daemon = Daemon::start(&world);
    let run = world.json(&["run", "report", "--json"]);
    assert_eq!(run["outcome"], "success", "{run}");
    daemon.stop();
    let exported = receiver.next();
    let chat = json!({"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "double"});
    let tokens = |kind: &str| {
        let mut labels = chat.clone();
        labels["gen_ai.token.type"] = json!(kind);
        json!({"attributes": labels, "value": 2})
    };
    let one = |labels: Value| json!([{"attributes": labels, "value": 1}]);
    for (name, expected) in [
        (
            "gen_ai.client.operation.duration",
            json!([{"attributes": chat, "value": 2}]),
        ),
        (
            "gen_ai.client.token.usage",
            json!([tokens("input"), tokens("output")]),
        ),
        (
            "gen_ai.invoke_agent.duration",
            one(json!({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "thinker"})),
        ),
        (
            "gen_ai.execute_tool.duration",
            one(json!({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "time.now"})),
        ),
        (
            "gen_ai.workflow.duration",
            one(
                json!({"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "report"}),
            ),
        ),
        (
            "mcp.client.operation.duration",
            one(json!({"mcp.method.name": "tools/call", "gen_ai.tool.name": "fetch"})),
        ),
    ] {
        assert_eq!(points(&exported, name), expected, "{name}");
    }
}

#[test]
fn the_standard_variable_disables_all_exports() {
    let receiver = OtlpReceiver::start(0);
    let world = used_home();
    world.write("home/config.toml", exporting_to(&receiver.url, ""));
    world.write("home/skills/note.yaml", LOG);
    let run = |disabled: &str| {
        let mut command = world.command(&["run", "note", "--json"]);
        let output = command.env("OTEL_SDK_DISABLED", disabled).output().unwrap();
        let run: Value = serde_json::from_slice(&output.stdout).unwrap();
        run["id"].clone()
    };
    run("true");
    let exported = run("false");
    let runs: Vec<_> = receiver
        .spans()
        .into_iter()
        .map(|span| span["attributes"]["deft.run.id"].clone())
        .collect();
    assert_eq!(runs, [exported.clone(), exported]);
    assert!(receiver.waiting().is_empty());
}

/// The spans are given up after two seconds; the timeout of the request is longer.
#[test]
fn a_command_does_not_wait_for_a_silent_receiver() {
    let silent = HttpDouble::start(|_| Reaction::Hang);
    let world = used_home();
    world.write("home/config.toml", exporting_to(&silent.url, ""));
    world.write("home/skills/note.yaml", LOG);
    let result = deft(&world, &["run", "note", "--json"]);
    assert_eq!(result.code, 0);
    assert_eq!(result.json()["outcome"], "success");
    let state: Value = serde_json::from_str(&world.read("home/data/telemetry.json")).unwrap();
    assert_eq!(
        (&state["exported"], &state["dropped"], &state["last_error"]),
        (
            &json!(0),
            &json!(2),
            &json!("the OTLP receiver did not answer before the process ended")
        ),
        "{state:#}"
    );
}

#[test]
fn lost_spans_and_missed_slots_are_counted() {
    let refusing = HttpDouble::start(|_| Reaction::Answer(400, Vec::new(), String::new()));
    let world = used_home();
    world.write(
        "home/config.toml",
        exporting_to(&refusing.url, "metrics = false"),
    );
    world.write("home/skills/note.yaml", LOG);
    let hourly = LOG.replace("note", "hourly") + "schedule: \"0 * * * *\"\nmisfire: skip\n";
    world.write("home/skills/hourly.yaml", hourly);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let body = json!({"skill": "note"}).to_string();
    let headers = [("Content-Type", "application/json")];
    api.send("POST", "/api/v1/runs?wait=20", &headers, body.as_bytes());
    miss_five_slots(&world);
    let total = |page: &Value, family: &str, labels: &Value| {
        sample(page, family, &format!("{family}_total"), labels)
    };
    let page = wait_for("the lost spans", || {
        let page = parse_page(&api.get("/metrics").body);
        let dropped = total(&page, "deft_telemetry_spans_dropped", &json!({}));
        (dropped == 2.0).then_some(page)
    });
    let missed = total(&page, "deft_schedule_missed", &json!({"skill": "hourly"}));
    assert_eq!(missed, 5.0, "{page}");
    let labels =
        json!({"skill": "hourly", "tier": "workflow", "trigger": "schedule", "status": "missed"});
    assert_eq!(total(&page, "deft_skill_runs", &labels), 5.0, "{page}");
    let exported = total(&page, "deft_telemetry_spans_exported", &json!({}));
    assert_eq!(exported, 0.0, "{page}");
    daemon.stop();
}

/// Ticks half an hour after the fifth slot of the skill `hourly`.
fn miss_five_slots(world: &World) {
    let next = world.json(&["schedule", "next", "hourly", "-n", "5", "--json"]);
    let fifth: jiff::Timestamp = next["fires"][4].as_str().unwrap().parse().unwrap();
    let late = fifth + jiff::SignedDuration::from_mins(30);
    let ticked = world.json(&["tick", "--now", &late.to_string(), "--json"]);
    assert_eq!(ticked["missed"][0]["slot_count"], 5, "{ticked:#}");
}
