//! Runs the client from the seeds ("WebSocket Connection") with Node, which strips its types.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use deft_testkit::{find_shared, referee};
use serde_json::json;

use super::client::Api;
use crate::daemon::{Daemon, used_home};

const HELLO: &str = "\
name: hello
description: Says hello
steps:
  - {id: say, tool: log, args: {message: hello}}
outputs:
  said: hello
";

/// Writes the file that Node runs, with the fixed port of the seeds replaced by the test's port.
fn client(api: &Api, folder: &Path) -> std::path::PathBuf {
    let text = include_str!("referees/client.ts");
    assert!(text.contains("new WebSocket(`ws://localhost:9876/"));
    if let Some(seed) = find_shared("seeds/003_05a37b41105d180e.txt") {
        let seed = std::fs::read_to_string(seed).unwrap();
        let section = seed.split_once("### WebSocket Connection").unwrap().1;
        let code = section.split("```").nth(1).unwrap();
        let code = code.strip_prefix("typescript").unwrap().trim();
        let code = code.replace(
            "'ws://localhost:9876'",
            "`ws://localhost:9876/?token=${process.env.TOKEN}`",
        );
        assert!(text.contains(&code), "{code}");
    }
    let port = api.address.rsplit_once(':').unwrap().1;
    let file = folder.join("client.ts");
    std::fs::write(&file, text.replace(":9876", &format!(":{port}"))).unwrap();
    file
}

#[test]
fn the_client_of_the_seeds_receives_the_events_of_a_run() {
    let world = used_home();
    world.write("home/skills/hello.yaml", HELLO);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut node = Command::new(referee("bin/node"))
        .args(["--experimental-strip-types", "--no-warnings"])
        .arg(client(&api, &world.path("home")))
        .env("TOKEN", &api.token)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut line = || lines.next().unwrap().unwrap();
    assert_eq!(line(), "open");
    let body = json!({"skill": "hello"}).to_string();
    let json = [("Content-Type", "application/json")];
    let run = api.send("POST", "/api/v1/runs?wait=20", &json, body.as_bytes());
    assert_eq!(run.status, 200, "{}", run.json());
    assert_eq!(line(), r#"{"panel":"hello"}"#);
    assert_eq!(line(), r#"{"step":"say","success":true}"#);
    assert_eq!(line(), r#"{"outputs":{"said":"hello"}}"#);
    assert!(node.wait().unwrap().success());
    daemon.stop();
}
