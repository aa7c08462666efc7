//! `deft mcp serve` with clients that send invalid messages.

use serde_json::json;

use crate::daemon::used_home;
use crate::mcp_client::{LEGACY, McpClient};

#[test]
fn lines_that_are_no_messages_do_no_harm() {
    let world = used_home();
    let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
    for line in [
        "hello",
        "{",
        "[]",
        "{\"jsonrpc\":\"1.0\",\"id\":7}",
        "\u{0}",
    ] {
        client.write_line(line);
    }
    let arguments = json!({"name": "run_list", "arguments": "text"});
    let error = client.refused("tools/call", arguments);
    assert!(error["code"].is_i64(), "{error:#}");
    client.request("ping", json!({}));
    assert_eq!(client.close(), 0);
    let mut client = McpClient::start(&world);
    client.notify("notifications/initialized", json!({}));
    assert_eq!(client.close(), 2);
}
