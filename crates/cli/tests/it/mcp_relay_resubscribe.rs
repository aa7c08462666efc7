//! When a server behind deft restarts, deft subscribes again to the resources that clients follow, without a
//! new request of the client.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::daemon::wait_for;
use crate::mcp_client::{LEGACY, McpClient};
use crate::mcp_relay_support::{HttpUpstream, http_world, stdio_world};
use crate::support::World;

const PLAIN: &str = "reexport = \"plain\"";
const UPDATED: &str = "notifications/resources/updated";
/// A resource that changes when it is subscribed to. Over stdio each connection has its own server, so no
/// call could change the resource.
const LIVELY: &str = "test://template/lively/data";
const WATCHED: &str = "test://watched-resource";

/// Creates a client with a session that subscribes to a resource.
fn legacy(world: &World, uri: &str) -> McpClient {
    let mut client = McpClient::legacy(world, LEGACY, &json!({}));
    client.request("resources/subscribe", json!({ "uri": uri }));
    client
}

/// Like [`legacy`], without a session.
fn modern(world: &World, uri: &str) -> McpClient {
    let mut client = McpClient::modern(world, &json!({}));
    client.request("server/discover", json!({}));
    let filter = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    client.send("subscriptions/listen", filter);
    client
}

/// Waits until a process other than `before` gets the subscription, and returns its id.
fn follower(note: &Path, before: Option<u32>) -> u32 {
    wait_for("a subscription", || {
        let id = fs::read_to_string(note).ok()?.parse().ok()?;
        (Some(id) != before).then_some(id)
    })
}

fn assert_updated(client: &mut McpClient, uri: &str, words: &[&str]) {
    let notification = client.notification(UPDATED);
    assert_eq!(
        notification["params"]["uri"], uri,
        "{words:?}: {notification:#}"
    );
}

#[test]
fn a_killed_server_is_restarted_for_its_subscribers() {
    for words in [&["legacy"][..], &[]] {
        for follow in [legacy, modern] {
            let world = stdio_world(words, "");
            let note = world.path("note");
            let more = format!(
                "{PLAIN}\nenv = {{ UP_NOTE = {:?} }}\n",
                note.to_str().unwrap()
            );
            let config = world.read("home/config.toml") + &more;
            world.write("home/config.toml", config);
            let mut client = follow(&world, LIVELY);
            assert_updated(&mut client, LIVELY, words);
            let id = follower(&note, None);
            let killed = Command::new("kill")
                .args(["-KILL", &id.to_string()])
                .status();
            assert!(killed.unwrap().success());
            follower(&note, Some(id));
            assert_updated(&mut client, LIVELY, words);
        }
    }
}

#[test]
fn subscriptions_to_a_restarted_http_server_are_renewed() {
    for words in [&["http", "legacy"][..], &["http"]] {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note");
        let variables = [("UP_NOTE", note.as_path())];
        let upstream = HttpUpstream::with(words, &variables);
        let world = http_world(&upstream, PLAIN);
        let mut client = legacy(&world, WATCHED);
        let touch = json!({ "uri": WATCHED });
        client.call("test_touch", touch.clone());
        assert_updated(&mut client, WATCHED, words);
        let before = follower(&note, None);

        let port = upstream.port().to_owned();
        drop(upstream);
        let _upstream = HttpUpstream::with(&[words, &[&port]].concat(), &variables);
        follower(&note, Some(before));
        client.call("test_touch", touch);
        assert_updated(&mut client, WATCHED, words);
        assert_eq!(extra(&mut client), 0);
    }
}

/// Returns the number of surplus updates.
fn extra(client: &mut McpClient) -> usize {
    let pong: Value = client.request("ping", json!({}));
    assert_eq!(pong, json!({}));
    client.count(UPDATED)
}
