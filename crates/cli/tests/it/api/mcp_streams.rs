//! Clients of `/mcp` in every revision, and streams that end when their token is revoked.

use serde_json::json;

use super::NOTE;
use super::client::Api;
use super::lasting::with_token;
use super::mcp_http::{EventStream, McpHttp};
use crate::daemon::{Daemon, used_home};
use crate::mcp_client::LEGACY;

/// Opens the stream of a session, and one of `subscriptions/listen`.
fn open(api: &Api) -> [EventStream; 2] {
    let filter = json!({"notifications": {"promptsListChanged": true}});
    let mut listening = McpHttp::modern(api).follow("subscriptions/listen", filter);
    listening.until("subscriptions/acknowledged");
    [McpHttp::legacy(api).listen(), listening]
}

#[test]
fn streams_of_mcp_end_when_their_token_is_revoked() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let phone = with_token(&world, &owner, "phone");
    let tablet = with_token(&world, &owner, "tablet");
    let (cut, mut kept) = (open(&phone), open(&tablet));

    assert_eq!(world.code(&["tokens", "revoke", "phone"]), 0);
    for mut stream in cut {
        stream.until_end();
    }
    assert_eq!(
        phone
            .send("GET", "/mcp", &[("Mcp-Session-Id", "x")], b"")
            .status,
        401
    );
    // The streams of the other token stay open.
    world.write("home/skills/note.yaml", NOTE);
    for stream in &mut kept {
        stream.until("notifications/prompts/list_changed");
    }
    daemon.stop();
}

#[test]
fn one_address_serves_every_protocol_revision() {
    let world = used_home();
    world.write("home/skills/note.yaml", NOTE);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let versions = ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY];
    let clients = versions.map(|version| McpHttp::with_version(&api, version));
    for mut client in clients.into_iter().chain([McpHttp::modern(&api)]) {
        let tools = client.ask("tools/list", json!({}));
        assert!(tools["result"]["tools"].as_array().unwrap().len() > 10);
        let arguments = json!({"skill": "note", "inputs": {"text": "hi"}});
        let params = json!({"name": "skill_run", "arguments": arguments});
        let run = client.ask("tools/call", params);
        assert_eq!(run["result"]["isError"], false, "{run:#}");
    }
    daemon.stop();
}
