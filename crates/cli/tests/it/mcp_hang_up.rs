//! If a client of the revision without sessions closes its HTTP connection in the middle of a call, the call
//! is cancelled: the run, or the call of the server behind deft.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};

use serde_json::{Value, json};

use crate::api::client::Api;
use crate::daemon::{Daemon, ended, wait_for};
use crate::mcp_client::MODERN;
use crate::mcp_relay_support::stdio_world;
use crate::support::World;

const SLOW: &str = "name: slow\ndescription: Waits\nsteps:\n  - {id: begin, tool: log, args: {message: begin}}\n  - {id: rest, wait: 60s}\n";

fn world(era: &[&str]) -> World {
    let world = stdio_world(era, "reexport = \"plain\"");
    world.write("home/skills/slow.yaml", SLOW);
    world
}

/// Sends a call and returns the open connection.
fn call(api: &Api, tool: &str, arguments: &Value, wants_progress: bool) -> TcpStream {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if wants_progress {
        meta["progressToken"] = json!(1);
    }
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {MODERN}\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n",
        api.address,
        api.token,
        body.len()
    );
    let mut stream = api.connect();
    write!(stream, "{head}{body}").unwrap();
    stream
}

/// Waits for the first progress of a call.
fn read_progress(stream: &TcpStream) {
    let lines = BufReader::new(stream).lines();
    let mut lines = lines.map(Result::unwrap);
    let found = lines.find(|line| line.contains("notifications/progress"));
    assert!(found.is_some(), "no progress");
}

/// Asserts that the daemon still serves calls.
fn assert_healthy(api: &Api) {
    assert_eq!(api.get("/readyz").status, 200);
    let stream = call(api, "run_list", &json!({}), false);
    let mut lines = BufReader::new(&stream).lines().map(Result::unwrap);
    let reply = lines.find(|line| line.contains("structuredContent"));
    assert!(reply.is_some());
}

#[test]
fn a_run_is_cancelled_when_the_client_disconnects() {
    let world = world(&[]);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    // Disconnect before the head of the response, and in the middle of its stream.
    for wants_progress in [false, true] {
        let stream = call(&api, "skill_run", &json!({"skill": "slow"}), wants_progress);
        if wants_progress {
            read_progress(&stream);
        }
        let id = wait_for("a run under way", || {
            let listed = world.json(&["runs", "list", "--json"]);
            let run = &listed["runs"][0];
            (run["status"] != "done").then(|| run["id"].as_str().map(str::to_owned))?
        });
        stream.shutdown(Shutdown::Both).unwrap();
        let run = ended(&world, &id);
        assert_eq!(run["outcome"], "cancelled", "{run:#}");
        assert_healthy(&api);
    }
    daemon.stop();
}

#[test]
fn a_relayed_call_is_cancelled_when_the_client_disconnects() {
    for era in [&["legacy"][..], &[]] {
        let world = world(era);
        let daemon = Daemon::start(&world);
        let api = Api::find(&world);
        for wants_progress in [false, true] {
            let note = world.path(&format!("note-{wants_progress}"));
            let stream = call(&api, "test_wait", &json!({ "note": note }), wants_progress);
            let says = |text: &str| {
                let content = fs::read_to_string(&note).unwrap_or_default();
                (content == text).then_some(())
            };
            wait_for("the call", || says("waiting"));
            if wants_progress {
                read_progress(&stream);
            }
            stream.shutdown(Shutdown::Both).unwrap();
            wait_for("the end of the call", || says("cancelled"));
            assert_healthy(&api);
        }
        daemon.stop();
    }
}
