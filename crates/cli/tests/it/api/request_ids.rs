//! The id of a request is stored in the journal of the run it starts, for every kind of request.

use serde_json::{Value, json};

use super::NOTE;
use super::client::Api;
use crate::chat_support::{home, model};
use crate::daemon::{Daemon, used_home};
use crate::mcp_client::McpClient;
use crate::support::World;
use deft_testkit::ModelAnswer;

fn world() -> World {
    let world = used_home();
    world.write("home/skills/note.yaml", NOTE);
    world
}

fn started(world: &World) -> (Daemon, Api) {
    let daemon = Daemon::start(world);
    let api = Api::find(world);
    (daemon, api)
}

/// Returns the request id of a run, after checking that its journal contains the same id.
fn request_of(api: &Api, run: &Value) -> Value {
    let run = run.as_str().unwrap();
    let shown = api.read(&format!("/api/v1/runs/{run}"))["run"]["request_id"].clone();
    let journal = api.read(&format!("/api/v1/runs/{run}/export"))["journal"].to_string();
    assert!(journal.contains(&shown.to_string()), "{shown}: {journal}");
    shown
}

#[test]
fn the_id_of_a_request_is_in_the_journal_of_its_run() {
    let world = world();
    let (daemon, api) = started(&world);
    let id = [("X-Request-Id", "order-7")];
    let body = json!({"skill": "note", "inputs": {"text": "hi"}});
    let waited = api.post_with("/api/v1/runs?wait=20", &body, &id);
    assert_eq!(waited.json()["run"]["request_id"], "order-7");
    let run = waited.json()["run"]["id"].as_str().unwrap().to_owned();
    let shown = world.json(&["runs", "show", &run, "--json"]);
    assert_eq!(shown["run"]["request_id"], "order-7");
    let exported = api.read(&format!("/api/v1/runs/{run}/export"));
    assert!(exported["journal"].to_string().contains("order-7"));
    // A request that does not wait, from a client that sends no id.
    let queued = api.post("/api/v1/runs", &body);
    let given = queued.header("x-request-id").unwrap().to_owned();
    assert_eq!(queued.json()["run"]["request_id"], json!(given));
    // Over MCP the id is the one in the header of the response.
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}});
    let accept = ("Accept", "application/json, text/event-stream");
    let hello = api.post_with("/mcp", &call, &[accept]);
    assert_eq!(hello.status, 200);
    let session = hello.header("mcp-session-id").unwrap().to_owned();
    let headers = [
        accept,
        ("Mcp-Session-Id", session.as_str()),
        ("X-Request-Id", "order-8"),
    ];
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(api.post_with("/mcp", &ready, &headers).status, 202);
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "skill_run", "arguments": {"skill": "note", "inputs": {"text": "mcp"}}}});
    assert_eq!(api.post_with("/mcp", &call, &headers).status, 200);
    let last = world.json(&["runs", "show", "last", "--json"]);
    assert_eq!(
        (&last["run"]["cause"], &last["run"]["request_id"]),
        (&json!("mcp"), &json!("order-8"))
    );
    daemon.stop();
}

#[test]
fn reruns_jobs_and_chats_have_the_request_id() {
    let server = model([ModelAnswer::text("Hello.")]);
    let world = home(&server, "");
    world.write("home/skills/note.yaml", NOTE);
    let (daemon, api) = started(&world);
    let body = json!({"skill": "note", "inputs": {"text": "hi"}});
    let first = api.post_with("/api/v1/runs?wait=20", &body, &[("X-Request-Id", "a-1")]);
    let first = first.json()["run"]["id"].clone();
    assert_eq!(request_of(&api, &first), "a-1");

    let path = format!("/api/v1/runs/{}/rerun?wait=20", first.as_str().unwrap());
    let again = api.post_with(&path, &json!({}), &[("X-Request-Id", "a-2")]);
    let again = again.json()["run"].clone();
    assert_eq!(again["outcome"], "success", "{again:#}");
    assert_ne!(again["id"], first);
    assert_eq!(request_of(&api, &again["id"]), "a-2");
    // The first run keeps its own request id.
    assert_eq!(request_of(&api, &first), "a-1");

    let job = json!({"name": "later", "action": {"type": "tool_call", "toolName": "log",
        "parameters": {"message": "done"}}});
    let job = api.post_with("/api/v1/jobs", &job, &[("X-Request-Id", "a-3")]);
    let job = job.json();
    assert_eq!(request_of(&api, &job["job"]["taskId"]), "a-3", "{job:#}");

    let chat = json!({"text": "Hi"});
    let chat = api.post_with("/api/v1/chats", &chat, &[("X-Request-Id", "a-4")]);
    let chat = chat.json();
    assert_eq!(chat["answer"]["text"], "Hello.", "{chat:#}");
    assert_eq!(request_of(&api, &chat["run"]), "a-4");
    daemon.stop();
}

/// Tools of deft that start runs pass on the id of the request that calls them.
#[test]
fn runs_started_by_a_tool_have_the_request_id() {
    let world = world();
    let (daemon, api) = started(&world);
    let inputs = json!({"skill": "note", "inputs": {"text": "hi"}});
    let job = json!({"name": "later", "action": {"type": "tool_call", "toolName": "log",
        "parameters": {"message": "done"}}});
    let run_of = |tool: &str, arguments: &Value, id: &str| {
        let path = format!("/api/v1/tools/{tool}/call");
        let trace = format!(
            "00-{}-00f067aa0ba902b7-01",
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
        let headers = [("X-Request-Id", id), ("traceparent", trace.as_str())];
        let reply = api.post_with(&path, &json!({"arguments": arguments}), &headers);
        assert_eq!(reply.status, 200, "{reply:?}");
        let run = api.read("/api/v1/runs?limit=1")["runs"][0].clone();
        let journal = api.read(&format!(
            "/api/v1/runs/{}/export",
            run["id"].as_str().unwrap()
        ));
        assert!(journal.to_string().contains("00f067aa0ba902b7"), "{tool}");
        run
    };
    let run = run_of("skill_run", &inputs, "b-1");
    assert_eq!(run["cause"], "api");
    assert_eq!(request_of(&api, &run["id"]), "b-1");
    let run = run_of("queue_task", &job, "b-2");
    assert_eq!(request_of(&api, &run["id"]), "b-2");
    daemon.stop();
}

/// Over stdio the request id is the id of the message.
#[test]
fn over_stdio_the_request_id_is_the_message_id() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let arguments = json!({"skill": "note", "inputs": {"text": "hi"}});
        let params = json!({"name": "skill_run", "arguments": arguments});
        let id = client.send("tools/call", params);
        let answer = client.response(id);
        assert_ne!(answer["result"]["isError"], true, "{answer:#}");
        let last = world.json(&["runs", "show", "last", "--json"]);
        assert_eq!(
            (&last["run"]["cause"], &last["run"]["request_id"]),
            (&json!("mcp"), &json!(format!("mcp:{id}"))),
            "{last:#}"
        );
        client.close();
    }
}
