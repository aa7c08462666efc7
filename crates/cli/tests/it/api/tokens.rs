//! Tokens with scopes, and the log of changes.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::client::Api;
use super::mcp_http::McpHttp;
use crate::daemon::{Daemon, used_home};
use crate::support::{SKILL, WORKFLOW, World};

/// The secret of a new token.
pub(super) fn add(world: &World, name: &str, scope: &str) -> String {
    let added = world.json(&["tokens", "add", name, "--scope", scope, "--json"]);
    added["token"].as_str().unwrap().to_owned()
}

/// The same API with another token.
pub(super) fn with_token(api: &Api, token: String) -> Api {
    Api {
        address: api.address.clone(),
        token,
    }
}

fn post(api: &Api, path: &str, body: &Value) -> u16 {
    let headers = [("Content-Type", "application/json")];
    let reply = api.send("POST", path, &headers, body.to_string().as_bytes());
    reply.status
}

#[test]
fn a_token_allows_the_requests_of_its_scope() {
    let world = used_home();
    world
        .write("home/skills/report.yaml", WORKFLOW)
        .write("home/skills/greet/SKILL.md", SKILL);
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let reader = with_token(&owner, add(&world, "reader", "read"));
    let runner = with_token(&owner, add(&world, "runner", "run"));
    let admin = with_token(&owner, add(&world, "boss", "admin"));
    let run = json!({"skill": "report"});
    for (api, may_run, may_change) in [
        (&reader, false, false),
        (&runner, true, false),
        (&admin, true, true),
        (&owner, true, true),
    ] {
        assert_eq!(api.get("/api/v1/runs").status, 200);
        let ran = post(api, "/api/v1/runs?wait=20", &run);
        assert_eq!(ran, if may_run { 200 } else { 403 });
        let changed = post(api, "/api/v1/skills/report/enable", &json!({}));
        assert_eq!(changed, if may_change { 200 } else { 403 });
    }
    let refused = reader.send("DELETE", "/api/v1/skills/greet", &[], b"");
    assert_eq!(refused.json()["code"], "scope");
    assert!(world.path("home/skills/greet").exists());

    let listed = world.run(&["tokens", "list"]);
    assert!(
        listed.contains("runner") && !listed.contains(&runner.token),
        "{listed}"
    );
    assert!(!world.read("home/tokens.json").contains(&runner.token));
    assert_eq!(world.code(&["tokens", "revoke", "runner"]), 0);
    assert_eq!(runner.get("/api/v1/runs").status, 401);
    assert_eq!(reader.get("/api/v1/runs").status, 200);
    assert_eq!(world.code(&["tokens", "revoke", "runner"]), 2);
    daemon.stop();
}

#[test]
fn changes_are_logged_with_actor_and_target_without_secrets() {
    let world = used_home();
    world.write("home/skills/report.yaml", WORKFLOW);
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let canary = "canary-7d1f";
    let body = json!({"value": canary});
    let headers = [
        ("Content-Type", "application/json"),
        ("X-Request-Id", "audit-1"),
    ];
    let path = format!("/api/v1/settings/agent.user?note={canary}");
    api.send(
        "PUT",
        "/api/v1/settings/agent.user",
        &headers,
        body.to_string().as_bytes(),
    );
    api.send("PUT", &path, &headers, b"{}");
    api.get("/api/v1/runs");
    let output = daemon.stop();
    let log = world.read("home/logs/audit.jsonl");
    let lines = world.audited_requests();
    assert_eq!(lines.len(), 2, "{log}");
    let line = &lines[0];
    assert_eq!(line["who"], "owner");
    assert_eq!(line["what"], "PUT /api/v1/settings/agent.user");
    assert_eq!(
        (&line["status"], &line["request_id"]),
        (&json!(200), &json!("audit-1"))
    );
    assert!(
        line["from"].as_str().unwrap().starts_with("127.0.0.1:"),
        "{line}"
    );
    assert_eq!(lines[1]["status"], 400);
    for text in [&log, &output, &world.read("home/logs/deft.log")] {
        assert!(
            !text.contains(canary) && !text.contains(&api.token),
            "{text}"
        );
    }
    let file = std::fs::metadata(world.path("home/logs/audit.jsonl")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
}

/// The log line of a message to `/mcp` has few details, so each tool call has its own line.
#[test]
fn tool_calls_of_mcp_clients_are_logged() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let call = |name: &str| json!({"name": name, "arguments": {}});
    for mut client in [McpHttp::legacy(&api), McpHttp::modern(&api)] {
        client.ask("tools/call", call("run_list"));
        client.ask("tools/call", call("nothing"));
    }
    daemon.stop();
    let lines = world.audited_requests();
    let calls: Vec<(Value, Value, Value)> = lines
        .into_iter()
        .filter(|line: &Value| !line["what"].as_str().unwrap().starts_with("POST"))
        .map(|line| {
            assert!(line["from"].as_str().unwrap().starts_with("127.0.0.1:"));
            assert_ne!(line["request_id"], "");
            (
                line["who"].clone(),
                line["what"].clone(),
                line["status"].clone(),
            )
        })
        .collect();
    let one = |tool: &str, status: u16| {
        (
            json!("owner"),
            json!(format!("tools/call {tool}")),
            json!(status),
        )
    };
    let both = [one("run_list", 200), one("nothing", 400)];
    assert_eq!(calls, [both.clone(), both].concat());
}

#[test]
fn doctor_reports_unreadable_tokens() {
    let world = used_home();
    let finding = || {
        let report = world.output(&["doctor", "--json"]);
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let mut checks = report["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["id"] == "server.tokens");
        check.map(|check| check["status"].clone())
    };
    assert_eq!(finding(), None);
    add(&world, "phone", "read");
    assert_eq!(finding(), Some(json!("ok")));
    world.write("home/tokens.json", "{");
    assert_eq!(finding(), Some(json!("bad")));
}

/// A session and a reply belong to the token that they were made with, and not to its name.
#[test]
fn a_later_token_with_the_same_name_inherits_nothing() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let owner = Api::find(&world);
    let first = with_token(&owner, add(&world, "bot", "admin"));
    let other = with_token(&owner, add(&world, "other", "run"));
    let mut client = McpHttp::legacy(&first);
    assert_eq!(client.status_for(&first), 200);
    assert_eq!(client.status_for(&other), 404);
    let create = |api: &Api| {
        let body = json!({"name": "phone", "scope": "read"});
        let key = [("Idempotency-Key", "one")];
        api.post_with("/api/v1/tokens", &body, &key).status
    };
    assert_eq!((create(&first), create(&first)), (200, 409));
    for name in ["phone", "bot"] {
        assert_eq!(world.code(&["tokens", "revoke", name]), 0);
    }
    let second = with_token(&owner, add(&world, "bot", "admin"));
    assert_eq!(create(&second), 200);
    assert_eq!(client.status_for(&second), 404);
    daemon.stop();
}
