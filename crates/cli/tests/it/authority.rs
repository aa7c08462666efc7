//! A skill or job has the rights of the agent or person that stored it, as shown on the command line.

use deft_testkit::{Kind, ModelAnswer, Script, server_binary, witness};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::chat_support::{deft, home, model};
use crate::support::World;

fn record() -> Value {
    json!({
        "name": "Wipe", "trigger_type": "cron", "trigger_config": { "in_minutes": 5 },
        "instructions": "Wipe the old disk.", "notify_on_completion": false,
        "execution_plan": [{ "id": "one", "toolName": "wipe", "parameters": { "disk": "old" } }],
    })
}

/// Configures a server with one destructive tool.
fn with_server(world: &World) {
    world.write("servers/x", "");
    let words = json!({"annotations": {"destructiveHint": true}, "text": "wiped"});
    let script = Script::new().tool("wipe", words);
    let arguments = script.write(&world.path("servers"), "disks");
    let args: Vec<Value> = arguments.list().into_iter().map(Value::from).collect();
    let (config, command) = (world.read("home/config.toml"), json!(server_binary()));
    let server = format!(
        "[mcp_servers.disks]\ncommand = {command}\nargs = {}\n",
        json!(args)
    );
    world.write("home/config.toml", config + &server);
}

fn wiped(world: &World) -> usize {
    let log = witness(&world.path("servers/disks.log"));
    log.iter()
        .filter(|event| event.kind == Kind::Started)
        .count()
}

fn tick_later(world: &World) -> Value {
    let later = Timestamp::now() + SignedDuration::from_mins(6);
    world.json(&["tick", "--now", &later.to_string(), "--json"])
}

#[test]
fn storing_a_skill_on_a_destructive_tool_asks_once() {
    let model = model([
        ModelAnswer::call("memory_store_skill", record()),
        ModelAnswer::text("Stored."),
    ]);
    let world = home(&model, "[agent]\ntools = [\"*\"]\n\n");
    with_server(&world);
    let output = deft(&world, &["chat", "-p", "wipe the old disk in five minutes"]);
    assert_eq!(output.code, 5, "{output:?}");
    let listed = world.json(&["approvals", "list", "--json"]);
    let approval = &listed["approvals"][0];
    assert_eq!(
        approval["message"],
        "Store the skill `Wipe`? On every run it will call `wipe` with {\"disk\":\"old\"} without \
         asking",
        "{listed:#}"
    );
    let id = approval["id"].as_str().unwrap();
    assert_eq!(world.code(&["approvals", "approve", id]), 0);
    world.json(&["tick", "--json"]);

    let shown = world.run(&["skills", "show", "wipe"]);
    for line in [
        "stored by    agent `thinker`, unattended",
        "asks before  destructive",
        "granted      one: `wipe`, agreed to when the skill was stored",
    ] {
        assert!(shown.contains(line), "`{line}` is missing:\n{shown}");
    }
    assert_eq!(wiped(&world), 0);
    tick_later(&world);
    assert_eq!(wiped(&world), 1);
}

#[test]
fn skills_that_a_person_stores_run_without_a_question() {
    let world = home(&model([]), "");
    with_server(&world);
    let args = record().to_string();
    world.json(&[
        "tools",
        "call",
        "memory_store_skill",
        "--args",
        &args,
        "--json",
    ]);
    let shown = world.json(&["skills", "show", "wipe", "--json"]);
    assert_eq!(shown["skill"]["authority"], Value::Null, "{shown:#}");
    tick_later(&world);
    assert_eq!(wiped(&world), 1);
}

/// A program can do anything, so running one requires an approval.
#[test]
fn running_a_program_needs_approval() {
    let model = model([
        ModelAnswer::call("shell_run", json!({ "command": ["touch", "made"] })),
        ModelAnswer::text("Made."),
    ]);
    let config = "[agent]\ntools = [\"*\"]\n\n[tools.shell]\nenabled = true\n\n";
    let world = home(&model, config);
    let output = deft(&world, &["chat", "-p", "make the file"]);
    assert_eq!(output.code, 5, "{output:?}");
    let listed = world.json(&["approvals", "list", "--json"]);
    let approval = &listed["approvals"][0];
    assert_eq!(
        approval["message"], "Call `shell.run` with {\"command\":[\"touch\",\"made\"]}?",
        "{listed:#}"
    );
}
