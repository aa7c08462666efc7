//! Streams of `/mcp` end when their token is revoked.

use serde_json::json;

use super::NOTE;
use super::client::Api;
use super::lasting::with_token;
use super::mcp_http::{EventStream, McpHttp};
use crate::daemon::{Daemon, used_home};

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
