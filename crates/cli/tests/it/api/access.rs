//! Access to the API: tokens, hosts, origins, ports, and bad input.

use std::io::Write;
use std::net::TcpListener;

use serde_json::{Value, json};

use super::client::Api;
use crate::daemon::{Daemon, used_home};
use crate::support::World;

/// Requests that no correct client sends, with the expected responses.
const BAD: &str = include_str!("bad_input.json");

#[test]
fn the_api_needs_its_token_and_health_does_not() {
    let world = used_home();
    let mut daemon = Daemon::start(&world);
    let api = Api::find(&world);
    daemon.until(&format!("the API is at http://{}", api.address));
    let stranger = Api {
        token: "deft_wrong".to_owned(),
        address: api.address.clone(),
    };
    for page in ["/healthz", "/readyz"] {
        let reply = stranger.get(page);
        assert_eq!((reply.status, reply.json()), (200, json!({"ok": true})));
    }
    let refused = stranger.get("/api/v1/runs");
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    let problem = refused.json();
    assert_eq!(problem["code"], "unauthorized");
    assert_eq!(
        refused.header("content-type"),
        Some("application/problem+json")
    );
    assert!(problem["hint"].is_string(), "{problem}");
    let missing = api.get("/nowhere");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.json()["code"], "no_such_page");
    assert_eq!(missing.header("access-control-allow-origin"), None);
    let output = daemon.stop();
    assert!(!output.contains(&api.token), "{output}");
    assert!(!world.path("home/server.json").exists());
}

/// deft allows no page of a browser to read its replies, whatever the page's origin is.
#[test]
fn no_reply_allows_other_origins() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let own = format!("http://{}", api.address);
    let ask = |method: &str, origin: &str| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
        ];
        let reply = api.send(method, "/api/v1/runs", &headers, b"");
        let mut names = reply.headers.iter().map(|(name, _)| name);
        let has_permission = names.any(|name| name.to_lowercase().starts_with("access-control-"));
        assert!(!has_permission, "{method} {origin}: {reply:?}");
        reply
    };
    assert_eq!(ask("GET", &own).status, 200);
    assert_eq!(ask("OPTIONS", &own).status, 405);
    let refused = ask("OPTIONS", "https://evil.example");
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (403, &json!("forbidden_origin"))
    );
    daemon.stop();
}

/// MCP requires the same access: a token with the right scope.
#[test]
fn mcp_requests_need_a_token() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
    }});
    let kinds = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let greet = |api: &Api, body: &[u8]| api.send("POST", "/mcp", &kinds, body);
    let welcome = greet(&api, hello.to_string().as_bytes());
    assert_eq!(welcome.status, 200);
    assert!(welcome.header("mcp-session-id").is_some());
    let reader = world.json(&["tokens", "add", "reader", "--scope", "read", "--json"]);
    let with = |token: &str| Api {
        token: token.to_owned(),
        address: api.address.clone(),
    };
    let looks = greet(
        &with(reader["token"].as_str().unwrap()),
        hello.to_string().as_bytes(),
    );
    assert_eq!(
        (looks.status, &looks.json()["code"]),
        (403, &json!("scope"))
    );
    assert_eq!(greet(&with("deft_wrong"), b"{}").status, 401);
    daemon.stop();
}

#[test]
fn a_request_has_an_id() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let given = api.send("GET", "/nowhere", &[("X-Request-Id", "mine-1")], b"");
    assert_eq!(given.header("x-request-id"), Some("mine-1"));
    assert_eq!(given.json()["request_id"], "mine-1");
    let made = api.send("GET", "/nowhere", &[("X-Request-Id", "two words")], b"");
    assert!(made.header("x-request-id").unwrap().starts_with("req_"));
    daemon.stop();
}

#[cfg(unix)]
#[test]
fn the_token_file_is_private_and_kept() {
    use std::os::unix::fs::PermissionsExt;
    let world = used_home();
    Daemon::start(&world).stop();
    let path = world.path("home/token");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let first = world.read("home/token");
    Daemon::start(&world).stop();
    assert_eq!(world.read("home/token"), first);
}

#[test]
fn the_daemon_runs_although_its_port_is_in_use() {
    let world = used_home();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = other.local_addr().unwrap().to_string();
    let mut daemon = Daemon::with(&world, &[], &[("DEFT__SERVER__LISTEN", &listen)]);
    daemon.until("cannot serve the API: another program listens");
    assert_not_served(&world, "server.listen");
    daemon.stop();
}

/// Asserts that status and doctor report that the API is not served, with a hint that names a setting.
fn assert_not_served(world: &World, setting: &str) {
    let status = world.json(&["status", "--json"]);
    let api = &status["daemon"]["api"];
    assert_eq!(api["url"], Value::Null, "{status:#}");
    assert!(api["hint"].as_str().unwrap().contains(setting), "{api}");
    let output = world.output(&["doctor", "--json"]);
    let doctor: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["id"] == "server.up");
    assert_eq!(check.unwrap()["status"], "bad", "{doctor:#}");
}

#[test]
fn other_machines_are_not_served_without_encryption() {
    let world = used_home();
    let listen = ("DEFT__SERVER__LISTEN", "0.0.0.0:0");
    // Metrics without a token change nothing.
    let metrics = ("DEFT__TELEMETRY__OPEN_METRICS", "true");
    for settings in [vec![listen], vec![listen, metrics]] {
        let mut daemon = Daemon::with(&world, &[], &settings);
        daemon.until("which other machines can reach");
        assert_not_served(&world, "tls_cert");
        daemon.stop();
    }
}

#[test]
fn the_api_can_be_disabled() {
    let world = used_home();
    let daemon = Daemon::with(&world, &[], &[("DEFT__SERVER__ENABLED", "false")]);
    assert!(!world.path("home/server.json").exists());
    let status = world.json(&["status", "--json"]);
    assert_eq!(status["daemon"]["api"], Value::Null);
    daemon.stop();
}

#[test]
fn the_status_names_the_address() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let url = format!("http://{}", Api::find(&world).address);
    let status = world.json(&["status", "--json"]);
    assert_eq!(status["daemon"]["api"]["url"], url.as_str());
    daemon.stop();
}

#[test]
fn bad_input_does_not_affect_other_requests() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    // A client that never completes its head, and one that sends nothing.
    let mut slow = api.connect();
    slow.write_all(b"GET /api/v1/runs HTTP/1.1\r\nHost: lo")
        .unwrap();
    let silent = api.connect();
    let cases: Vec<Value> = serde_json::from_str(BAD).unwrap();
    for case in &cases {
        let text = case["send"].as_str().unwrap();
        let text = text.replace("{host}", &api.address);
        let text = text.replace("{token}", &api.token);
        let long = "x".repeat(case["times"].as_u64().unwrap_or(0).try_into().unwrap());
        let reply = api.raw(text.replace("{long}", &long).as_bytes());
        assert_eq!(u64::from(reply.status), case["status"], "{case}");
        if let Some(code) = case.get("code") {
            assert_eq!(&reply.json()["code"], code, "{case}");
        }
        assert_eq!(api.get("/healthz").status, 200, "{case}");
    }
    drop((slow, silent));
    daemon.stop();
}
