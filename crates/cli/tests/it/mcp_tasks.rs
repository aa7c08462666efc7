//! Long runs as tasks, for clients of `deft mcp serve` that support tasks. No daemon drives these runs.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::daemon::{Daemon, used_home, wait_for};
use crate::mcp_client::McpClient;
use crate::support::World;

const QUICK: &str = "name: quick\ndescription: Is over at once\nexpose: true\nsteps:\n  - {id: note, tool: log, args: {message: hi}}\noutputs: {said: hi}\n";
const PAUSE: &str = "name: pause\ndescription: Lets time pass\nexpose: true\ninputs:\n  - {name: seconds, type: number, required: true}\nsteps:\n  - {id: rest, wait: \"{{ seconds }}s\"}\n  - {id: note, tool: log, args: {message: rested}}\noutputs: {rested: true}\n";
const CAREFUL: &str = "name: careful\ndescription: Asks first\nsteps:\n  - {id: send, tool: log, args: {message: sent}}\noutputs: {sent: true}\nconfirmations:\n  - {step: send, message: \"Send it?\"}\n";
const FAILING: &str = "name: failing\ndescription: Fails later\nsteps:\n  - {id: rest, wait: 1s}\n  - {id: look, tool: time.now, args: {zone: Mars/Base}}\n";

pub(crate) fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/quick.yaml", QUICK)
        .write("home/skills/pause.yaml", PAUSE)
        .write("home/skills/careful.yaml", CAREFUL)
        .write("home/skills/failing.yaml", FAILING);
    world
}

/// Returns the capabilities of a client that supports tasks and can ask a person.
pub(crate) fn capabilities() -> Value {
    json!({"elicitation": {"form": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}})
}

/// Creates a client that supports tasks.
fn client(world: &World) -> McpClient {
    McpClient::modern(world, &capabilities())
}

fn run(skill: &str, inputs: Value) -> Value {
    let mut arguments = json!({ "skill": skill });
    arguments["inputs"] = inputs;
    arguments
}

/// Calls a skill and returns the created task.
fn task(client: &mut McpClient, skill: &str, inputs: Value) -> Value {
    let created = client.call("skill_run", run(skill, inputs));
    assert_eq!(created["resultType"], "task", "{created:#}");
    for absent in ["result", "error", "inputRequests", "requestState"] {
        assert!(created[absent].is_null(), "{created:#}");
    }
    assert!(created["ttlMs"].is_null() && created.get("ttlMs").is_some());
    created
}

fn get(client: &mut McpClient, task: &Value) -> Value {
    let found = client.request("tasks/get", json!({"taskId": task["taskId"]}));
    assert_eq!(found["resultType"], "complete", "{found:#}");
    assert_eq!(found["taskId"], task["taskId"]);
    assert_eq!(found["createdAt"], task["createdAt"]);
    found
}

/// Waits until a task has a status, and returns the task.
fn until(client: &mut McpClient, task: &Value, status: &str) -> Value {
    wait_for(status, || {
        let found = get(client, task);
        (found["status"] == status).then_some(found)
    })
}

#[test]
fn a_short_run_is_answered_with_its_result() {
    let world = world();
    let mut client = client(&world);
    let found = client.request("server/discover", json!({}));
    let extensions = &found["capabilities"]["extensions"];
    assert!(
        extensions["io.modelcontextprotocol/tasks"].is_object(),
        "{found:#}"
    );
    for result in [
        client.call("skill_run", run("quick", json!({}))),
        client.call("quick", json!({})),
    ] {
        assert_eq!(result["resultType"], "complete", "{result:#}");
        assert!(result["taskId"].is_null());
        assert_eq!(
            result["structuredContent"]["outputs"],
            json!({"said": "hi"})
        );
    }
    let refused = client.call("skill_run", run("quik", json!({})));
    assert_eq!(refused["_meta"]["deft/error"]["code"], "unknown_skill");
    assert_eq!(client.close(), 0);
}

#[test]
fn a_waiting_run_becomes_a_task() {
    let world = world();
    let mut client = client(&world);
    let created = task(&mut client, "pause", json!({"seconds": 2}));
    assert_eq!(created["status"], "working");
    assert!(created["pollIntervalMs"].as_u64().unwrap() >= 1000);
    let message = created["statusMessage"].as_str().unwrap();
    assert!(message.starts_with("`rest` waits until"), "{message}");
    let done = until(&mut client, &created, "completed");
    assert_eq!(
        done["result"]["structuredContent"]["run"],
        created["taskId"]
    );
    assert_eq!(
        done["result"]["structuredContent"]["outputs"],
        json!({"rested": true})
    );
    assert!(done["lastUpdatedAt"].as_str() > created["lastUpdatedAt"].as_str());
    assert!(done["pollIntervalMs"].is_null(), "{done:#}");
    let exposed = client.call("pause", json!({"seconds": 60}));
    assert_eq!(exposed["resultType"], "task", "{exposed:#}");
}

#[test]
fn a_long_run_becomes_a_task() {
    let world = world();
    let pipe = world.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let held = format!(
        "name: held\ndescription: Reads a pipe\nsteps:\n  - {{id: read, tool: shell.run, args: {{command: [cat, \"{}\"]}}}}\noutputs: {{read: \"{{{{ read.stdout }}}}\"}}\n",
        pipe.display()
    );
    world
        .write("home/skills/held.yaml", held)
        .write("home/config.toml", "[tools.shell]\nenabled = true\n");
    let mut client = client(&world);
    let created = task(&mut client, "held", json!({}));
    assert_eq!(created["status"], "working", "{created:#}");
    assert_eq!(created["statusMessage"], "step 1 of 1");
    fs::write(&pipe, "now").unwrap();
    let done = until(&mut client, &created, "completed");
    assert_eq!(
        done["result"]["structuredContent"]["outputs"]["read"],
        "now"
    );
}

#[test]
fn a_question_is_answered_by_an_update() {
    let world = world();
    let mut client = client(&world);
    let created = task(&mut client, "careful", json!({}));
    assert_eq!(created["status"], "input_required", "{created:#}");
    let asked = get(&mut client, &created);
    let requests = asked["inputRequests"].as_object().unwrap();
    assert_eq!(requests.len(), 1, "{asked:#}");
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{asked:#}");
    assert_eq!(request["params"]["message"], "Send it?");
    let mut update = |responses: Value| {
        let mut params = json!({"taskId": created["taskId"]});
        params["inputResponses"] = responses;
        let ack = client.request("tasks/update", params);
        assert_eq!(ack["resultType"], "complete", "{ack:#}");
        assert!(
            ack["status"].is_null() && ack["taskId"].is_null(),
            "{ack:#}"
        );
        get(&mut client, &created)
    };
    let yes = json!({"action": "accept", "content": {"answer": "yes"}});
    for ignored in [
        json!({}),
        json!({"another": yes}),
        json!({ key: {"action": "cancel"} }),
        json!({ key: {"action": "accept", "content": {"confirm": true}} }),
        json!({ key: "yes" }),
    ] {
        assert_eq!(update(ignored)["inputRequests"], asked["inputRequests"]);
    }
    let answered = update(json!({ key: yes }));
    assert!(answered["inputRequests"].is_null(), "{answered:#}");
    let done = until(&mut client, &created, "completed");
    assert_eq!(
        done["result"]["structuredContent"]["outputs"],
        json!({"sent": true})
    );
    let all = client.value("approval_list", json!({"answered": true}));
    assert_eq!(all["approvals"][0]["by"], "mcp:tester", "{all:#}");
    // The approval is already answered, so this answer is ignored.
    let late = json!({"taskId": created["taskId"], "inputResponses": { key: yes }});
    client.request("tasks/update", late);
    assert_eq!(get(&mut client, &created)["status"], "completed");
}

#[test]
fn a_person_who_declines_stops_the_run() {
    let world = world();
    let mut client = client(&world);
    let created = task(&mut client, "careful", json!({}));
    let asked = get(&mut client, &created);
    let key = asked["inputRequests"].as_object().unwrap().keys().next();
    let declined = json!({ key.unwrap(): {"action": "decline"} });
    let params = json!({"taskId": created["taskId"], "inputResponses": declined});
    client.request("tasks/update", params);
    let ended = until(&mut client, &created, "cancelled");
    assert_eq!(
        ended["statusMessage"],
        "declined by mcp:tester before step `send`"
    );
}

#[test]
fn a_client_without_elicitation_gets_the_question_as_text() {
    let world = world();
    let known = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mut client = McpClient::modern(&world, &known);
    let waits = client.value("skill_run", json!({"skill": "careful"}));
    assert_eq!(waits["status"], "waiting", "{waits:#}");
    let question = waits["approvals"][0]["id"].as_str().unwrap();
    let found = get_working(&mut client, &waits["run"]);
    let message = found["statusMessage"].as_str().unwrap();
    assert!(message.contains(question), "{message}");
    assert_eq!(world.code(&["approvals", "approve", question]), 0);
    wait_for("the end", || {
        let found = client.request("tasks/get", json!({"taskId": waits["run"]}));
        (found["status"] == "completed").then_some(())
    });
}

fn get_working(client: &mut McpClient, id: &Value) -> Value {
    let found = client.request("tasks/get", json!({ "taskId": id }));
    assert_eq!(found["status"], "working", "{found:#}");
    assert!(found["inputRequests"].is_null(), "{found:#}");
    found
}

#[test]
fn a_failed_run_is_a_result_with_the_text_of_a_failed_call() {
    let world = world();
    let mut plain = McpClient::modern(&world, &json!({}));
    let called = plain.call("skill_run", json!({"skill": "failing"}));
    let mut client = client(&world);
    let created = task(&mut client, "failing", json!({}));
    let done = until(&mut client, &created, "completed");
    assert_eq!(done["result"]["isError"], true, "{done:#}");
    assert!(done["error"].is_null());
    let text = |result: &Value| {
        let text = result["content"][0]["text"].as_str().unwrap();
        let (text, run) = text.split_once("\nrun: ").unwrap();
        assert_eq!(run, result["structuredContent"]["run"]);
        text.to_owned()
    };
    assert_eq!(text(&done["result"]), text(&called));
    assert_eq!(done["result"]["_meta"], called["_meta"]);
}

#[test]
fn a_cancelled_task_cancels_its_run() {
    let world = world();
    let mut client = client(&world);
    let created = task(&mut client, "pause", json!({"seconds": 60}));
    let id = json!({"taskId": created["taskId"]});
    for _ in 0..2 {
        let ack = client.request("tasks/cancel", id.clone());
        assert_eq!(ack["resultType"], "complete", "{ack:#}");
        assert!(ack["status"].is_null(), "{ack:#}");
    }
    let ended = until(&mut client, &created, "cancelled");
    assert!(ended["result"].is_null(), "{ended:#}");
    client.request("tasks/cancel", id);
    assert_eq!(get(&mut client, &created), ended);
    let shown = client.value("run_show", json!({"id": created["taskId"]}));
    assert_eq!(shown["run"]["outcome"], "cancelled", "{shown:#}");
}

#[test]
fn unknown_task_ids_are_refused() {
    let world = world();
    let by_hand = world.json(&["run", "quick", "--json"]);
    let mut client = client(&world);
    let created = task(&mut client, "pause", json!({"seconds": 60}));
    let id = created["taskId"].as_str().unwrap();
    for wrong in [
        "run_nothing",
        "",
        "last",
        &id[..id.len() - 1],
        by_hand["id"].as_str().unwrap(),
    ] {
        for (method, params) in [
            ("tasks/get", json!({"taskId": wrong})),
            ("tasks/cancel", json!({"taskId": wrong})),
            (
                "tasks/update",
                json!({"taskId": wrong, "inputResponses": {}}),
            ),
        ] {
            let error = client.refused(method, params);
            assert_eq!(error["code"], -32602, "{method} {wrong}: {error:#}");
        }
    }
    for gone in ["tasks/list", "tasks/result"] {
        assert_eq!(client.refused(gone, json!({"taskId": id}))["code"], -32601);
    }
    let mut plain = McpClient::modern(&world, &json!({}));
    let error = plain.refused("tasks/get", json!({"taskId": id}));
    assert_eq!(error["code"], -32021, "{error:#}");
}

#[test]
fn a_task_exists_until_its_run_is_deleted() {
    let world = world();
    let mut client = client(&world);
    let run = client.value("skill_run", run("quick", json!({})))["run"].take();
    let found = client.request("tasks/get", json!({ "taskId": run }));
    assert_eq!(found["status"], "completed", "{found:#}");
    let pruned = world.json(&["runs", "prune", "--older-than", "1ms", "--json"]);
    assert_eq!(pruned["runs"], json!([run]), "{pruned:#}");
    let error = client.refused("tasks/get", json!({ "taskId": run }));
    assert_eq!(error["code"], -32602, "{error:#}");
}

#[test]
fn a_task_survives_its_server_process() {
    let world = world();
    let mut first = client(&world);
    let created = task(&mut first, "pause", json!({"seconds": 3}));
    assert_eq!(first.close(), 0);
    // The run is resumed only when a client asks for the task.
    let mut second = client(&world);
    until(&mut second, &created, "completed");
}

#[test]
fn a_daemon_takes_over_tasks() {
    let world = world();
    let mut client = client(&world);
    let alone = task(&mut client, "pause", json!({"seconds": 3}));
    let daemon = Daemon::start(&world);
    let beside = task(&mut client, "pause", json!({"seconds": 3}));
    assert_eq!(client.close(), 0);
    let mut client = self::client(&world);
    for created in [alone, beside] {
        until(&mut client, &created, "completed");
    }
    let careful = task(&mut client, "careful", json!({}));
    let asked = until(&mut client, &careful, "input_required");
    let key = asked["inputRequests"].as_object().unwrap().keys().next();
    let yes = json!({"action": "accept", "content": {"answer": "yes"}});
    let params = json!({"taskId": careful["taskId"], "inputResponses": { key.unwrap(): yes }});
    client.request("tasks/update", params);
    until(&mut client, &careful, "completed");
    daemon.stop();
}
