//! If a server behind deft leaks the secret that deft gave it, clients of deft do not see it.

use serde_json::{Value, json};

use crate::mcp_client::{LEGACY, McpClient};
use crate::mcp_relay_support::stdio_world;
use crate::support::World;

const SECRET: &str = "s3cret-of-the-tracker";
const NEW_SECRET: &str = "the-next-s3cret";
const MORE: &str = "reexport = \"plain\"\nenv = { UP_SECRET = \"file:secrets/UP\" }";
const ERAS: [&[&str]; 2] = [&["legacy"], &[]];

fn world(era: &[&str]) -> World {
    let world = stdio_world(era, MORE);
    world.write("home/secrets/UP", SECRET);
    world
}

/// Returns a call that makes the server leak its secret in one way.
fn leak_call(by: &str) -> Value {
    json!({
        "name": "test_tell_secret",
        "arguments": { "by": by },
        "_meta": { "progressToken": 1, "io.modelcontextprotocol/logLevel": "debug" },
    })
}

/// Asserts that the secret in a message is masked.
fn assert_hidden(message: &Value, way: &str) {
    let text = message.to_string();
    assert!(text.contains("the secret is ***"), "{way}: {message:#}");
    assert!(!text.contains("s3cret"), "{way}: {message:#}");
}

#[test]
fn results_and_errors_of_a_server_hide_secrets() {
    for era in ERAS {
        for mut client in McpClient::both(&world(era)) {
            for by in ["text", "structured", "failure"] {
                let result = client.request("tools/call", leak_call(by));
                assert_hidden(&result, by);
                assert_eq!(result["isError"] == true, by == "failure", "{result:#}");
            }
            let error = client.refused("tools/call", leak_call("error"));
            assert_hidden(&error["message"], "error");
            assert_hidden(&error["data"], "error");
        }
    }
}

#[test]
fn progress_and_logs_of_a_server_hide_secrets() {
    for era in ERAS {
        let world = world(era);
        let [mut legacy, modern] = McpClient::both(&world);
        legacy.request("logging/setLevel", json!({"level": "debug"}));
        for mut client in [legacy, modern] {
            for (by, kind) in [
                ("progress", "notifications/progress"),
                ("log", "notifications/message"),
            ] {
                client.request("tools/call", leak_call(by));
                assert_hidden(&client.notification(kind), by);
            }
        }
    }
}

#[test]
fn questions_of_a_server_hide_secrets() {
    let capabilities = json!({"elicitation": {"form": {}}});
    for era in ERAS {
        let world = world(era);
        let mut client = McpClient::modern(&world, &capabilities);
        let asked = client.request("tools/call", leak_call("question"));
        assert_hidden(&asked["inputRequests"], "question");
        let mut client = McpClient::legacy(&world, LEGACY, &capabilities);
        client.send("tools/call", leak_call("question"));
        assert_hidden(&client.notification("elicitation/create"), "question");
    }
}

/// Only servers with sessions can refuse a subscription: the others respond with the part they accept.
#[test]
fn a_refused_subscription_hides_secrets() {
    let mut client = McpClient::legacy(&world(&["legacy"]), LEGACY, &json!({}));
    let uri = "test://template/refused/data";
    let error = client.refused("resources/subscribe", json!({ "uri": uri }));
    assert_hidden(&error["message"], "subscription");
    assert_hidden(&error["data"], "subscription");
}

/// A connection for a client is opened later than deft's own, with the current value of the secret.
#[test]
fn a_changed_secret_is_hidden() {
    for era in ERAS {
        let world = world(era);
        let mut client = McpClient::modern(&world, &json!({}));
        client.request("tools/list", json!({}));
        world.write("home/secrets/UP", NEW_SECRET);
        for by in ["text", "progress"] {
            let result = client.request("tools/call", leak_call(by));
            if by == "text" {
                assert_hidden(&result, by);
            } else {
                assert_hidden(&client.notification("notifications/progress"), by);
            }
        }
    }
}
