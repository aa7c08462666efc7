//! The API agrees with the command line, and with itself when a request is repeated.

use serde_json::{Value, json};

use super::NOTE;
use super::client::{Api, Reply};
use super::scopes::{Operation, operations};
use crate::daemon::{Daemon, used_home};

/// Returns a response without the id of its request.
fn content(reply: &Reply) -> (u16, Value) {
    let mut body = reply.json();
    if let Some(fields) = body.as_object_mut() {
        fields.remove("request_id");
    }
    (reply.status, body)
}

#[test]
fn api_errors_equal_those_of_the_command_line() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    for (command, path) in [
        (["runs", "show", "nope"], "/api/v1/runs/nope"),
        (["skills", "show", "nope"], "/api/v1/skills/nope"),
        (["schedule", "next", "nope"], "/api/v1/schedule/nope"),
        (["jobs", "show", "nope"], "/api/v1/jobs/nope"),
        (["chat", "show", "nope"], "/api/v1/chats/nope"),
        (["tools", "show", "nope"], "/api/v1/tools/nope"),
        (["config", "get", "nope"], "/api/v1/settings/nope"),
    ] {
        let [group, verb, name] = command;
        let printed = world.output(&[group, verb, name, "--json"]);
        let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
        let error = &printed["error"];
        let problem = api.get(path).json();
        assert!(error["code"].is_string(), "{command:?}: {printed:#}");
        assert_eq!(
            (&problem["code"], &problem["detail"], &problem["hint"]),
            (&error["code"], &error["message"], &error["hint"]),
            "{path}"
        );
    }
    let job = api.get("/api/v1/jobs/nope").json();
    assert_eq!(
        (&job["detail"], &job["hint"]),
        (
            &json!("unknown job `nope`"),
            &json!("`deft jobs list` shows all jobs")
        )
    );
    daemon.stop();
}

/// Requests whose reply to the same body is never stored: a run and a chat have their own permanent keys, and an
/// import reads what the body names, so it is not sent here.
const OWN_KEYS: [&str; 4] = [
    "/api/v1/runs",
    "/api/v1/chats",
    "/api/v1/skills/import",
    "/api/v1/servers/import",
];

/// Every other `POST` gives the same reply to a repeated key, and refuses the key for another body.
#[test]
fn an_idempotency_key_is_valid_at_every_address() {
    let world = used_home();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let mut sent = 0;
    for Operation { method, path, .. } in operations(&api) {
        let is_ours = method == "POST" && path.starts_with("/api/");
        if !is_ours || OWN_KEYS.contains(&path.as_str()) {
            continue;
        }
        let key = [("Idempotency-Key", path.as_str())];
        let post = |body: &Value| api.post_with(&path, body, &key);
        let first = post(&json!({}));
        assert!(first.status < 500, "{path}: {}", first.json());
        assert_eq!(content(&post(&json!({}))), content(&first), "{path}");
        let other = content(&post(&json!({"other": true})));
        assert_eq!(
            (other.0, &other.1["code"]),
            (409, &json!("key_taken")),
            "{path}: {}",
            other.1
        );
        sent += 1;
    }
    assert!(sent > 20, "{sent}");
    daemon.stop();
}

#[test]
fn an_idempotency_key_survives_a_restart() {
    let world = used_home();
    world.write("home/skills/note.yaml", NOTE);
    let body = json!({"skill": "note", "inputs": {"text": "hi"}});
    let key = [("Idempotency-Key", "k-1")];
    let daemon = Daemon::start(&world);
    let first = Api::find(&world).post_with("/api/v1/runs?wait=20", &body, &key);
    assert_eq!(first.json()["run"]["outcome"], "success");
    daemon.stop();
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    let again = api.post_with("/api/v1/runs?wait=10", &body, &key);
    assert_eq!(again.json()["run"], first.json()["run"]);
    assert_eq!(
        api.read("/api/v1/runs")["runs"].as_array().unwrap().len(),
        1
    );
    daemon.stop();
}

/// Documents that the command line prints are the same over HTTP.
#[test]
fn api_documents_equal_those_of_the_command_line() {
    let world = used_home();
    world.write("home/skills/note.yaml", NOTE).write(
        "home/config.toml",
        "[hooks.deploys]\nsecret = \"env:SECRET\"\n",
    );
    let daemon = Daemon::start(&world);
    let api = Api::find(&world);
    for (command, path) in [
        (["tools", "catalog", "--json"], "/api/v1/tools/catalog"),
        (["hooks", "list", "--json"], "/api/v1/hooks"),
        (["skills", "list", "--json"], "/api/v1/skills"),
        (["secrets", "list", "--json"], "/api/v1/secrets"),
    ] {
        assert_eq!(api.read(path), world.json(&command), "{path}");
    }
    daemon.stop();
}
