//! The official TypeScript and Python SDKs as clients of deft: over stdio and over HTTP to a running daemon,
//! in both eras. Each lists tools, calls one, follows the progress of a run, cancels a run and answers a
//! question.

use std::process::Command;

use deft_testkit::referee_script;
use serde_json::{Value, json};

use crate::daemon::{Daemon, used_home};
use crate::support::World;

const ECHO: &str = "name: echo\ndescription: Says it again\nexpose: true\ninputs:\n  - {name: text, type: string, required: true}\nsteps:\n  - {id: note, tool: log, args: {message: \"{{ text }}\"}}\noutputs: {said: \"{{ text }}\"}\n";
const THREE: &str = "name: three\ndescription: Has three steps\nsteps:\n  - {id: one, tool: log, args: {message: \"1\"}}\n  - {id: two, tool: log, args: {message: \"2\"}}\n  - {id: three, tool: log, args: {message: \"3\"}}\n";
const SLOW: &str = "name: slow\ndescription: Waits\nsteps:\n  - {id: begin, tool: log, args: {message: begin}}\n  - {id: rest, wait: 60s}\n";
const CAREFUL: &str = "name: careful\ndescription: Asks first\nsteps:\n  - {id: send, tool: log, args: {message: sent}}\noutputs: {sent: true}\nconfirmations:\n  - {step: send, message: \"Send it?\"}\n";

const ALL: [&str; 4] = ["stdio legacy", "stdio modern", "http legacy", "http modern"];
const LEGACY: [&str; 2] = ["stdio legacy", "http legacy"];

/// Runs a script and asserts that it gets the same results over each transport.
fn judge(script: &str, ways: &[&str]) {
    let world = used_home();
    world
        .write("home/skills/echo.yaml", ECHO)
        .write("home/skills/three.yaml", THREE)
        .write("home/skills/slow.yaml", SLOW)
        .write("home/skills/careful.yaml", CAREFUL);
    let daemon = Daemon::start(&world);
    let mut command = referee_script(script);
    name_deft(&mut command, &world);
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {printed}");
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({
        "listed": true,
        "said": "hi",
        "progress": [[1, 3, "one: done"], [2, 3, "two: done"], [3, 3, "three: done"]],
        "cancelled": "rejected",
        "outcome": "cancelled",
        "asked": ["Send it?"],
        "sent": true,
    });
    for way in ways {
        // Python writes whole numbers as `1.0`.
        let found = whole_numbers(&results[*way]);
        assert_eq!(found, expected, "{script}, {way}: {printed}");
    }
    drop(daemon);
}

fn name_deft(command: &mut Command, world: &World) {
    let state: Value = serde_json::from_str(&world.read("home/server.json")).unwrap();
    let url = state["url"].as_str().unwrap();
    command
        .env("DEFT", env!("CARGO_BIN_EXE_deft"))
        .env("DEFT_FOLDER", world.path("home"))
        .env("DEFT_URL", format!("{url}/mcp"))
        .env("DEFT_TOKEN", world.read("home/token").trim());
}

fn whole_numbers(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(whole_numbers).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), whole_numbers(value)))
            .collect(),
        Value::Number(number) => match number.as_f64() {
            #[expect(clippy::cast_possible_truncation, reason = "they count three steps")]
            Some(number) if number.fract() == 0.0 => json!(number as i64),
            _ => value.clone(),
        },
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn the_typescript_sdk_version_1_drives_deft() {
    judge("sdk_v1.mjs", &LEGACY);
}

#[test]
fn the_typescript_sdk_version_2_drives_deft() {
    judge("sdk_v2.mjs", &ALL);
}

#[test]
fn the_python_sdk_drives_deft() {
    judge("sdk.py", &ALL);
}
