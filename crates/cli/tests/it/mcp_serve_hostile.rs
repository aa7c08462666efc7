//! `deft mcp serve` with clients that send invalid messages.

use serde_json::json;

use crate::daemon::used_home;
use crate::mcp_client::{LEGACY, McpClient};

#[test]
fn invalid_lines_do_no_harm() {
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
    // A line above 16 MiB is dropped.
    client.write_line(&"x".repeat(17 << 20));
    client.request("ping", json!({}));
    assert_eq!(client.close(), 0);
    let mut client = McpClient::start(&world);
    client.notify("notifications/initialized", json!({}));
    assert_eq!(client.close(), 2);
}

/// Messages of the other era are refused by code, and the client is served further.
#[test]
fn messages_of_the_wrong_era_are_refused() {
    let world = used_home();
    let mut modern = McpClient::modern(&world, &json!({}));
    modern.request("server/discover", json!({}));
    modern.request("tools/list", json!({}));
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        (
            "resources/subscribe",
            json!({"uri": "skill://greet/SKILL.md"}),
        ),
    ] {
        assert_eq!(modern.refused(method, params)["code"], -32601, "{method}");
    }
    modern.request("tools/list", json!({}));
    assert_eq!(modern.close(), 0);
    let mut legacy = McpClient::legacy(&world, LEGACY, &json!({}));
    let error = legacy.refused("server/discover", json!({}));
    assert_eq!(error["code"], -32602, "{error:#}");
    let version = json!({"io.modelcontextprotocol/protocolVersion": "1999-01-01",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let error = McpClient::start(&world).refused("tools/list", json!({"_meta": version}));
    assert_eq!(error["code"], -32022, "{error:#}");
    legacy.request("tools/list", json!({}));
    assert_eq!(legacy.close(), 0);
}
