//! `deft mcp serve`: tools, runs and approvals, in both eras.

use serde_json::{Value, json};

use crate::daemon::{Daemon, WAIT_TIMEOUT, used_home, wait_for};
use crate::mcp_client::{LEGACY, MODERN, McpClient};
use crate::support::{PAGE, SKILL, WORKFLOW, World};

const GREETER: &str = "name: mail.greet\ndescription: Greets someone\nexpose: true\neffects: none\ninputs:\n  - name: who\n    type: string\n    required: true\n    description: Whom to greet\nsteps:\n  - id: first\n    tool: log\n    args: {message: \"hello {{ who }}\"}\n  - id: second\n    tool: log\n    args: {message: bye}\noutputs:\n  said: \"hello {{ who }}\"\n";

const SLOW: &str = "name: slow\ndescription: Waits\nsteps:\n  - {id: rest, wait: 60s}\n";

const CAREFUL: &str = "name: careful\ndescription: Asks first\nsteps:\n  - id: send\n    tool: log\n    args: {message: sent}\noutputs: {sent: true}\nconfirmations:\n  - {step: send, message: \"Send it?\"}\n";

const FAILING: &str = "name: failing\ndescription: Fails\nsteps:\n  - {id: look, tool: time.now, args: {zone: Mars/Base}}\n";

fn world() -> World {
    let world = used_home();
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/report.yaml", WORKFLOW)
        .write("home/skills/greeter.yaml", GREETER)
        .write("home/skills/slow.yaml", SLOW)
        .write("home/skills/careful.yaml", CAREFUL)
        .write("home/skills/failing.yaml", FAILING);
    world
}

fn names(list: &Value, key: &str) -> Vec<String> {
    let all = list[key].as_array().unwrap().iter();
    all.map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_revision_with_sessions_is_supported() {
    let world = world();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let mut client = McpClient::legacy(&world, version, &json!({}));
        client.request("ping", json!({}));
        assert!(names(&client.request("tools/list", json!({})), "tools").len() > 10);
        assert_eq!(client.close(), 0);
    }
}

#[test]
fn the_revision_without_sessions_is_supported() {
    let world = world();
    let mut client = McpClient::modern(&world, &json!({}));
    let found = client.request("server/discover", json!({}));
    assert_eq!(found["resultType"], "complete", "{found:#}");
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(MODERN)), "{found:#}");
    let capabilities = &found["capabilities"];
    assert!(capabilities["extensions"]["io.modelcontextprotocol/skills"].is_object());
    let tools = client.request("tools/list", json!({}));
    assert!(
        tools["ttlMs"].is_u64() && tools["cacheScope"].is_string(),
        "{tools:#}"
    );
    let error = client.refused("ping", json!({}));
    assert_eq!(error["code"], -32601, "{error:#}");
    assert_eq!(client.close(), 0);
}

#[test]
fn tools_have_schemas_and_annotations() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let list = client.request("tools/list", json!({}));
        let names = names(&list, "tools");
        for expected in [
            "memory_store_skill",
            "memory_update_skill",
            "memory_list_skills",
            "memory_get_skill",
            "memory_delete_skill",
            "get_tool_catalog",
            "queue_task",
            "get_job_status",
            "skill_run",
            "skill",
            "get_skill",
            "use_skill",
            "dispatch_agent",
            "fact_save",
            "fact_list",
            "fact_delete",
            "conversation_list",
            "conversation_read",
            "run_list",
            "run_show",
            "run_cancel",
            "approval_list",
            "approval_answer",
            "mail_greet",
        ] {
            assert!(
                names.iter().any(|name| name == expected),
                "{expected}: {names:?}"
            );
        }
        for tool in list["tools"].as_array().unwrap() {
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool:#}");
            assert_eq!(tool["outputSchema"]["type"], "object", "{tool:#}");
            let hints = &tool["annotations"];
            assert!(hints["readOnlyHint"].is_boolean(), "{tool:#}");
            assert!(hints["destructiveHint"].is_boolean(), "{tool:#}");
            assert!(hints["idempotentHint"].is_boolean(), "{tool:#}");
            assert!(hints["openWorldHint"].is_boolean(), "{tool:#}");
        }
        let tool = |name: &str| {
            let mut all = list["tools"].as_array().unwrap().iter();
            all.find(|tool| tool["name"] == name).unwrap().clone()
        };
        assert_eq!(tool("run_show")["annotations"]["readOnlyHint"], true);
        // What they run may do anything, each time they are called.
        for name in ["skill_run", "use_skill", "dispatch_agent", "queue_task"] {
            let anything = json!({"readOnlyHint": false, "destructiveHint": true,
                "idempotentHint": false, "openWorldHint": true});
            assert_eq!(tool(name)["annotations"], anything, "{name}");
        }
        assert_eq!(
            tool("memory_delete_skill")["annotations"]["destructiveHint"],
            true
        );
        let choices = tool("skill")["inputSchema"]["properties"]["skill_name"]["enum"].take();
        assert_eq!(choices, json!(["greet"]));
        let greeter = tool("mail_greet");
        assert_eq!(greeter["annotations"]["readOnlyHint"], true);
        assert_eq!(greeter["inputSchema"]["required"], json!(["who"]));
        let who = &greeter["inputSchema"]["properties"]["who"];
        assert_eq!(
            who,
            &json!({"type": "string", "description": "Whom to greet"})
        );
    }
}

/// A skill becomes a tool if it asks for that, with a prefix if the name is taken; a disabled skill does not.
#[test]
fn exposed_skills_are_tools() {
    let world = world();
    let taken = GREETER.replace("mail.greet", "run_list");
    world.write("home/skills/taken.yaml", taken);
    for mut client in McpClient::both(&world) {
        let names = names(&client.request("tools/list", json!({})), "tools");
        for name in ["mail_greet", "run_list", "skill_run_list"] {
            assert!(names.iter().any(|it| it == name), "{name}: {names:?}");
        }
        assert!(!names.iter().any(|it| it == "slow"), "{names:?}");
        let said = client.value("skill_run_list", json!({"who": "Ada"}));
        assert_eq!(said["outputs"]["said"], "hello Ada", "{said:#}");
    }
    assert_eq!(world.code(&["skills", "disable", "mail.greet"]), 0);
    for mut client in McpClient::both(&world) {
        let names = names(&client.request("tools/list", json!({})), "tools");
        assert!(!names.iter().any(|it| it == "mail_greet"), "{names:?}");
        let call = json!({"name": "mail_greet", "arguments": {"who": "Ada"}});
        assert_eq!(client.refused("tools/call", call)["code"], -32602);
    }
}

#[test]
fn a_skill_is_run_with_progress_by_step() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let id = client.send(
            "tools/call",
            json!({
                "name": "skill_run",
                "arguments": { "skill": "mail.greet", "inputs": { "who": "Ada" } },
                "_meta": { "progressToken": "p1" },
            }),
        );
        for (step, done) in [("first", 1.0), ("second", 2.0)] {
            let progress = client.notification("notifications/progress");
            let params = &progress["params"];
            assert_eq!(params["progressToken"], "p1");
            assert_eq!(params["progress"].as_f64(), Some(done), "{progress:#}");
            assert_eq!(params["total"].as_f64(), Some(2.0));
            assert_eq!(params["message"], format!("{step}: done"));
        }
        let result = client.response(id)["result"].take();
        let run = &result["structuredContent"];
        assert_eq!(run["outcome"], "success", "{result:#}");
        assert_eq!(run["outputs"], json!({"said": "hello Ada"}));
        assert!(
            result["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("hello Ada")
        );
        let shown = client.value("run_show", json!({"id": run["run"]}));
        assert_eq!(shown["run"]["cause"], "mcp", "{shown:#}");
    }
    let mut client = McpClient::modern(&world, &json!({}));
    let run = client.value("mail_greet", json!({"who": "Bob"}));
    assert_eq!(run["outputs"], json!({"said": "hello Bob"}));
    let runs = client.value("run_list", json!({"skill": "mail.greet", "limit": 2}));
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
}

/// All progress is sent before the response, even if other calls write to the same stream.
#[test]
fn all_progress_of_a_call_is_written_before_its_reply() {
    const CALLS: u64 = 32;
    let world = world();
    for mut client in McpClient::both(&world) {
        let call = |token: u64| {
            json!({
                "name": "skill_run",
                "arguments": { "skill": "mail.greet", "inputs": { "who": "Ada" } },
                "_meta": { "progressToken": token },
            })
        };
        let ids: Vec<u64> = (0..CALLS)
            .map(|token| client.send("tools/call", call(token)))
            .collect();
        for (token, id) in (0..CALLS).zip(ids) {
            client.response(id);
            let told = client.waiting().iter().map(|message| &message["params"]);
            let told = told.filter(|params| params["progressToken"] == token);
            let told: Vec<_> = told.map(|params| &params["message"]).collect();
            assert_eq!(told, ["first: done", "second: done"], "call {token}");
        }
    }
}

#[test]
fn failures_are_results_with_a_class_and_a_hint() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let failed = client.call("skill_run", json!({"skill": "failing"}));
        assert_eq!(failed["isError"], true, "{failed:#}");
        assert_eq!(failed["structuredContent"]["outcome"], "error");
        assert_eq!(
            failed["_meta"]["deft/error"]["class"], "invalid",
            "{failed:#}"
        );
        for (tool, arguments, code) in [
            ("skill_run", json!({"skill": "greett"}), "unknown_skill"),
            ("skill_run", json!({"skil": "greet"}), "invalid_input"),
            ("mail_greet", json!({}), "missing_flags"),
            ("run_show", json!({"id": "run_nothing"}), "unknown_run"),
            (
                "approval_answer",
                json!({"id": "x", "answer": "yes"}),
                "unknown_approval",
            ),
            (
                "memory_get_skill",
                json!({"name": "nothing"}),
                "unknown_skill",
            ),
        ] {
            let result = client.call(tool, arguments);
            assert_eq!(result["isError"], true, "{tool}: {result:#}");
            let error = &result["_meta"]["deft/error"];
            assert_eq!(error["code"], code, "{tool}: {result:#}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(error["message"].as_str().unwrap()), "{text}");
        }
        let error = client.refused("tools/call", json!({"name": "nothing", "arguments": {}}));
        assert_eq!(error["code"], -32602, "{error:#}");
    }
}

#[test]
fn a_cancelled_call_cancels_the_run() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let id = client.send(
            "tools/call",
            json!({"name": "skill_run", "arguments": {"skill": "slow"}}),
        );
        let newest = |client: &mut McpClient, over: bool| {
            let runs = client.value("run_list", json!({"skill": "slow", "limit": 1}));
            let run = runs["runs"][0].clone();
            (run.is_object() && (run["status"] == "done") == over).then_some(run)
        };
        let run = wait_for("the run", || newest(&mut client, false));
        client.notify("notifications/cancelled", json!({"requestId": id}));
        let run = wait_for("its end", || {
            newest(&mut client, true).filter(|it| it["id"] == run["id"])
        });
        assert_eq!(run["outcome"], "cancelled", "{run:#}");
        assert_eq!(client.close(), 0);
    }
}

#[test]
fn runs_are_cancelled_when_their_client_disconnects() {
    let world = world();
    let mut client = McpClient::legacy(&world, LEGACY, &json!({}));
    client.send(
        "tools/call",
        json!({"name": "skill_run", "arguments": {"skill": "slow"}}),
    );
    wait_for("the run", || {
        let runs = client.value("run_list", json!({"skill": "slow"}));
        runs["runs"][0].is_object().then_some(())
    });
    assert_eq!(client.close(), 0);
    let runs = world.json(&["runs", "list", "--json"]);
    assert_eq!(runs["runs"][0]["outcome"], "cancelled", "{runs:#}");
}

#[test]
fn a_waiting_run_is_reported_and_only_a_person_can_answer() {
    let world = world();
    for mut client in McpClient::both(&world) {
        let waits = client.value("skill_run", json!({"skill": "careful"}));
        assert_eq!(waits["status"], "waiting", "{waits:#}");
        assert_eq!(waits["approvals"][0]["message"], "Send it?");
        let listed = client.value("approval_list", json!({}));
        assert_eq!(listed["approvals"][0]["id"], waits["approvals"][0]["id"]);
        let id = waits["approvals"][0]["id"].as_str().unwrap();
        let refused = client.call("approval_answer", json!({"id": id, "answer": "yes"}));
        assert_eq!(refused["isError"], true, "{refused:#}");
        let error = &refused["_meta"]["deft/error"];
        assert_eq!(error["code"], "no_person", "{refused:#}");
        assert!(
            error["hint"]
                .as_str()
                .unwrap()
                .contains("deft approvals approve")
        );
        assert_eq!(world.code(&["approvals", "approve", id]), 0);
    }
}

#[test]
fn the_model_cannot_answer_for_the_person() {
    let world = world();
    let capabilities = json!({"elicitation": {}});
    let mut client = McpClient::legacy(&world, LEGACY, &capabilities);
    let run = client.send(
        "tools/call",
        json!({"name": "skill_run", "arguments": {"skill": "careful"}}),
    );
    let asked = client.notification("elicitation/create");
    client.respond(&asked, json!({"action": "cancel"}));
    let waits = client.response(run)["result"]["structuredContent"].take();
    assert_eq!(waits["status"], "waiting", "{waits:#}");
    let id = waits["approvals"][0]["id"].clone();
    let call = json!({"name": "approval_answer", "arguments": {"id": id, "answer": "yes"}});
    let answering = client.send("tools/call", call.clone());
    let asked = client.notification("elicitation/create");
    assert_eq!(asked["params"]["message"], "Send it?", "{asked:#}");
    client.respond(
        &asked,
        json!({"action": "accept", "content": {"answer": "no"}}),
    );
    let answered = client.response(answering)["result"].take();
    let approval = &answered["structuredContent"]["approval"];
    assert_eq!(approval["answer"], "no", "{answered:#}");
    assert_eq!(approval["by"], "mcp:tester", "{answered:#}");
}

#[test]
fn the_person_answers_also_without_a_session() {
    let world = world();
    let mut unable = McpClient::modern(&world, &json!({}));
    let waits = unable.value("skill_run", json!({"skill": "careful"}));
    let id = waits["approvals"][0]["id"].as_str().unwrap();
    let mut client = McpClient::modern(&world, &json!({"elicitation": {"form": {}}}));
    let mut call = json!({"name": "approval_answer", "arguments": {"id": id, "answer": "yes"}});
    let asked = client.request("tools/call", call.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    call["inputResponses"] = json!({ id: {"action": "accept", "content": {"answer": "yes"}} });
    let error = client.refused("tools/call", call.clone());
    assert_eq!(error["code"], -32602, "{error:#}");
    call["requestState"] = asked["requestState"].clone();
    let done = client.request("tools/call", call);
    assert_eq!(
        done["structuredContent"]["approval"]["answer"], "yes",
        "{done:#}"
    );
    let run = wait_for("the end", || {
        let shown = client.value("run_show", json!({"id": waits["run"]}));
        (shown["run"]["status"] == "done").then(|| shown["run"].clone())
    });
    assert_eq!(run["outcome"], "success", "{run:#}");
}

#[test]
fn a_person_is_asked_by_elicitation() {
    let world = world();
    let mut client = McpClient::legacy(&world, LEGACY, &json!({"elicitation": {}}));
    let call = json!({"name": "skill_run", "arguments": {"skill": "careful"}});
    let id = client.send("tools/call", call);
    let asked = client.notification("elicitation/create");
    assert_eq!(asked["params"]["message"], "Send it?", "{asked:#}");
    client.respond(
        &asked,
        json!({"action": "accept", "content": {"answer": "yes"}}),
    );
    let result = client.response(id)["result"].take();
    assert_eq!(
        result["structuredContent"]["outcome"], "success",
        "{result:#}"
    );
}

#[test]
fn a_reply_asks_for_input_where_servers_send_no_requests() {
    let world = world();
    let mut client = McpClient::modern(&world, &json!({"elicitation": {"form": {}}}));
    let mut call = json!({"name": "skill_run", "arguments": {"skill": "careful"}});
    let asked = client.request("tools/call", call.clone());
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let requests = asked["inputRequests"].as_object().unwrap();
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{asked:#}");
    assert_eq!(request["params"]["message"], "Send it?");
    call["requestState"] = json!("run_of_another");
    let error = client.refused("tools/call", call.clone());
    assert_eq!(error["code"], -32602, "{error:#}");
    call["requestState"] = asked["requestState"].clone();
    call["inputResponses"] = json!({ key: {"action": "accept", "content": {"answer": "yes"}} });
    let done = client.request("tools/call", call);
    assert_eq!(done["structuredContent"]["outcome"], "success", "{done:#}");
    assert_eq!(done["structuredContent"]["run"], asked["requestState"]);
}

#[test]
fn a_running_daemon_runs_queued_jobs() {
    let world = world();
    let daemon = Daemon::start(&world);
    let mut client = McpClient::modern(&world, &json!({}));
    let action = json!({"type": "tool_call", "toolName": "time.now", "parameters": {}});
    let queued = client.value("queue_task", json!({"name": "Clock", "action": action}));
    let job = wait_for("the job", || {
        let job = client.value("get_job_status", json!({"taskId": queued["taskId"]}));
        (job["status"] == "completed").then_some(job)
    });
    assert!(job["result"].to_string().contains("unix"), "{job:#}");
    // An approval of a run started by this process is answered, and the daemon continues the run.
    let waits = client.value("skill_run", json!({"skill": "careful"}));
    let id = waits["approvals"][0]["id"].as_str().unwrap();
    assert_eq!(world.code(&["approvals", "approve", id]), 0);
    wait_for("the run", || {
        let shown = client.value("run_show", json!({"id": waits["run"]}));
        (shown["run"]["outcome"] == "success").then_some(())
    });
    drop(client);
    daemon.stop();
}

/// The daemon would find the job by polling too, so the test takes the place of its doorbell.
#[cfg(unix)]
#[test]
fn a_queued_job_wakes_the_daemon() {
    let world = world();
    let daemon = Daemon::start(&world);
    let place = world.path("home/data/doorbell");
    wait_for("the doorbell", || place.exists().then_some(()));
    std::fs::remove_file(&place).unwrap();
    let doorbell = std::os::unix::net::UnixDatagram::bind(&place).unwrap();
    doorbell.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
    let mut client = McpClient::modern(&world, &json!({}));
    let action = json!({"type": "tool_call", "toolName": "time.now", "parameters": {}});
    client.value("queue_task", json!({"name": "Clock", "action": action}));
    let mut ring = [0; 16];
    let size = doorbell.recv(&mut ring).unwrap();
    assert_eq!(&ring[..size], b"!");
    drop(daemon);
}

#[test]
fn a_job_without_a_daemon_is_reported() {
    let world = world();
    let mut client = McpClient::modern(&world, &json!({}));
    let action = json!({"type": "tool_call", "toolName": "time.now", "parameters": {}});
    let queued = client.call("queue_task", json!({"name": "Clock", "action": action}));
    let note = queued["content"][1]["text"].as_str().unwrap();
    assert!(note.contains("deft up"), "{note}");
}
