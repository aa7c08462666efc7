//! Structured logs: the fields of lines about a run, which are the same in both logs.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::referee::OtlpReceiver;
use crate::api::client::Api;
use crate::daemon::{Daemon, ended, used_home};
use crate::support::World;

/// Prints in a compute block, and then fails.
const SKILL: &str = "\
name: counter
description: Counts and fails
steps:
  - {id: count, compute: \"print('counted')\\nresult = 3\"}
  - {id: ask, tool: time.now, args: {zone: Nowhere/Else}}
";

fn lines(text: &str) -> Vec<Value> {
    let read = |line: &str| {
        serde_json::from_str(line).unwrap_or_else(|problem| panic!("{problem}: {line}"))
    };
    text.lines().map(read).collect()
}

/// Returns the log lines about a run, without their times.
fn about(lines: &[Value], run: &str) -> Vec<Value> {
    let own = lines.iter().filter(|line| line["run"] == run);
    let without_time = |line: &Value| {
        let mut line = line.clone();
        let time = line.as_object_mut().unwrap().remove("timestamp").unwrap();
        let time: Result<jiff::Timestamp, _> = time.as_str().unwrap().parse();
        assert!(time.is_ok(), "{time:?}");
        line
    };
    own.map(without_time).collect()
}

fn run_in(world: &World) -> (String, Vec<Value>, Vec<Value>) {
    let mut daemon = Daemon::with(world, &["--log", "json"], &[]);
    let api = Api::find(world);
    let body = json!({"skill": "counter"}).to_string();
    let headers = [("Content-Type", "application/json")];
    let reply = api.send("POST", "/api/v1/runs?wait=20", &headers, body.as_bytes());
    let run = reply.json()["run"]["id"].as_str().unwrap().to_owned();
    ended(world, &run);
    daemon.until("failed: ");
    let terminal = lines(&daemon.stop());
    let file = lines(&world.read("home/logs/deft.log"));
    (run, terminal, file)
}

#[test]
fn lines_about_a_run_have_its_id_its_skill_and_its_trace() {
    let receiver = OtlpReceiver::start(0);
    let world = used_home();
    world.write("home/skills/counter.yaml", SKILL).write(
        "home/config.toml",
        format!(
            "[telemetry]\nendpoint = {}\nmetrics = false\n",
            json!(receiver.url)
        ),
    );
    let (run, terminal, file) = run_in(&world);
    let spans = receiver.spans();
    let trace = spans[0]["trace"].clone();
    assert!(trace.as_str().is_some_and(|trace| trace.len() == 32));
    let own = about(&terminal, &run);
    let message = own[1]["message"].clone();
    assert_eq!(
        json!(own),
        json!([
            {"level": "INFO", "target": "deft_engine::perform", "message": "counted",
                "run": run, "skill": "counter", "step": "count", "trace_id": trace},
            {"level": "WARN", "target": "deft_scheduler::log_lines", "message": message,
                "run": run, "skill": "counter", "trace_id": trace},
        ])
    );
    let message = message.as_str().unwrap();
    assert!(message.starts_with("`counter` failed: "), "{message}");
    assert_eq!(about(&file, &run), own, "the log file has the same lines");
    // The line about the request has the same request id as the response.
    let request = terminal.iter().find(|line| {
        let message = line["message"].as_str().unwrap_or_default();
        message.starts_with("POST /api/v1/runs took")
    });
    let request = request.unwrap_or_else(|| panic!("{terminal:#?}"));
    let fields: BTreeSet<&str> = request
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        fields,
        BTreeSet::from([
            "timestamp",
            "level",
            "target",
            "message",
            "request",
            "status"
        ])
    );
}

/// Without a receiver, log lines have no trace id.
#[test]
fn without_traces_lines_have_no_trace() {
    let world = used_home();
    world.write("home/skills/counter.yaml", SKILL);
    let (run, terminal, _) = run_in(&world);
    let own = about(&terminal, &run);
    assert_eq!(own.len(), 2, "{terminal:#?}");
    for line in own {
        assert_eq!(line.get("trace_id"), None, "{line}");
    }
}
