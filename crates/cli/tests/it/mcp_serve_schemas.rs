//! The result of each tool of `deft mcp serve` is valid by the output schema that the tool list names.

use std::collections::BTreeSet;

use deft_testkit::ModelAnswer;
use serde_json::{Value, json};

use crate::chat_support::{home, model};
use crate::mcp_client::McpClient;
use crate::support::{PAGE, SKILL};

const GREETER: &str = "name: mail.greet\ndescription: Greets someone\nexpose: true\nsteps:\n  - {id: a, tool: log, args: {message: hello}}\noutputs:\n  said: hello\n";

const CAREFUL: &str = "name: careful\ndescription: Asks first\nsteps:\n  - {id: a, tool: log, args: {message: sent}}\nconfirmations:\n  - {step: a, message: \"Send it?\"}\n";

/// Tools that need a model or a person; other tests call them.
const ELSEWHERE: [&str; 2] = ["approval_answer", "dispatch_agent"];

/// Calls of every other tool, in an order in which each finds what it needs. `TASK` and `CHAT` stand for ids.
fn calls() -> Vec<(&'static str, Value)> {
    let record = json!({"name": "Tea", "instructions": "Make tea.", "trigger_type": "cron",
        "trigger_config": {"in_minutes": 50}});
    let action = json!({"type": "tool_call", "toolName": "time.now", "parameters": {}});
    vec![
        ("memory_store_skill", record),
        ("memory_list_skills", json!({})),
        ("memory_get_skill", json!({"name": "Tea"})),
        (
            "memory_update_skill",
            json!({"name": "Tea", "instructions": "Make green tea."}),
        ),
        ("memory_delete_skill", json!({"name": "Tea"})),
        ("get_tool_catalog", json!({})),
        ("queue_task", json!({"name": "Clock", "action": action})),
        ("get_job_status", json!({"taskId": "TASK"})),
        ("skill", json!({"skill_name": "greet"})),
        ("get_skill", json!({})),
        ("get_skill", json!({"topic": "email.send"})),
        ("use_skill", json!({"skill": "careful"})),
        ("mail_greet", json!({})),
        ("skill_run", json!({"skill": "mail.greet"})),
        (
            "skill_run",
            json!({"skill": "email.send", "inputs": {"help": true}}),
        ),
        ("skill_run", json!({"skill": "careful"})),
        ("approval_list", json!({})),
        ("run_list", json!({})),
        ("run_show", json!({"id": "last"})),
        ("run_cancel", json!({"id": "last"})),
        (
            "fact_save",
            json!({"text": "likes tea", "category": "taste"}),
        ),
        (
            "fact_save",
            json!({"text": "likes tea", "category": "taste"}),
        ),
        ("fact_list", json!({})),
        ("fact_delete", json!({"id": 1})),
        ("conversation_list", json!({})),
        ("conversation_read", json!({"id": "CHAT"})),
    ]
}

#[test]
fn results_are_valid_by_their_schemas() {
    let server = model([ModelAnswer::text("Hello.")]);
    let world = home(&server, "");
    let chat = world.json(&["chat", "-p", "Hello", "--json"])["conversation"].take();
    world
        .write("home/skills/greet/SKILL.md", SKILL)
        .write("home/skills/email/send.md", PAGE)
        .write("home/skills/greeter.yaml", GREETER)
        .write("home/skills/careful.yaml", CAREFUL);
    for mut client in McpClient::both(&world) {
        let list = client.request("tools/list", json!({}));
        let listed = list["tools"].as_array().unwrap();
        let mut called: BTreeSet<&str> = ELSEWHERE.into();
        let mut task = Value::Null;
        for (tool, mut arguments) in calls() {
            if arguments["taskId"] == "TASK" {
                arguments["taskId"] = task.clone();
            }
            if arguments["id"] == "CHAT" {
                arguments["id"] = chat.clone();
            }
            let found = listed.iter().find(|one| one["name"] == tool).unwrap();
            let validator = jsonschema::validator_for(&found["outputSchema"]).unwrap();
            let content = client.value(tool, arguments);
            let errors: Vec<String> = validator
                .iter_errors(&content)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert_eq!(errors, Vec::<String>::new(), "{tool}: {content:#}");
            if tool == "queue_task" {
                task = content["taskId"].clone();
            }
            called.insert(tool);
        }
        let names = listed.iter().map(|one| one["name"].as_str().unwrap());
        let names: BTreeSet<&str> = names.collect();
        assert_eq!(names, called, "each tool is called above");
    }
}
