//! A real model with the real binary. The tests check only the form of the results, because the model is too
//! small for meaningful content.

use deft_testkit::RealModel;
use serde_json::{Value, json};

use crate::chat_support::deft;
use crate::daemon::used_home;
use crate::support::World;

/// Creates a home with a real model, and an agent with a short prompt, because the model reads slowly.
fn home(more: &str, metadata: &str, text: &str) -> World {
    let world = used_home();
    let url = json!(RealModel::get_shared().url);
    world
        .write(
            "home/config.toml",
            format!(
                "[agent]\ndefault = \"small\"\n\n[llm.small]\nprovider = \"openai\"\nmodel = \"smollm2\"\n\
                 base_url = {url}\ntemperature = 0.0\ncontext_tokens = 4096\nmax_tokens = 64\n{more}"
            ),
        )
        .write(
            "home/agents/small/AGENT.md",
            "---\nname: Small\n---\nYou call tools.\n",
        )
        .write(
            "home/skills/small/SKILL.md",
            format!(
                "---\nname: small\ndescription: For a small model.\nmetadata:\n{metadata}---\n{text}\n"
            ),
        );
    world
}

/// Runs the skill and returns the exit code, the run, and its events.
fn run(world: &World) -> (i32, Value, Vec<Value>) {
    let output = deft(world, &["run", "small", "--json"]);
    let run = output.json();
    let id = run["id"].as_str().unwrap();
    let logs = world.json(&["runs", "logs", id, "--json"]);
    (output.code, run, logs["events"].as_array().unwrap().clone())
}

/// A required tool is called, if necessary by forcing the model; afterwards the step limit holds whatever the
/// model does.
#[test]
fn a_real_model_calls_the_required_tool() {
    let world = home(
        "",
        "  required_tools: [time.now]\n  max_steps: 3\n  expect: {\"called\": [\"time.now\"]}\n",
        "Call the tool time_now.",
    );
    let (code, run, events) = run(&world);
    assert!(code == 0 || run["error"]["class"] == "limit", "{run:#}");
    let usage = &run["usage"];
    assert!(
        matches!(usage["llm_calls"].as_u64(), Some(2..=3)),
        "{run:#}"
    );
    assert!(usage["input_tokens"].as_u64() > Some(100), "{run:#}");
    let story = json!(events).to_string();
    for text in ["tool_called", "\"time.now\"", "tool_returned"] {
        assert!(story.contains(text), "{story}");
    }
}

/// The grammar forces every reply to be a command block, so the model never ends: the block is run, and the
/// limit stops the model.
#[test]
fn a_real_model_writes_commands_by_grammar() {
    let grammar = "root ::= \"```cmd\\nlog --message \\\"\" [a-z ]{3,12} \"\\\"\\n```\"";
    let world = home(
        &format!("tools = false\nextra.grammar = {}\n", json!(grammar)),
        "  required_tools: [log]\n  max_steps: 2\n",
        "Log something.",
    );
    let (code, run, events) = run(&world);
    assert_eq!(
        (code, &run["error"]["class"], &run["usage"]["llm_calls"]),
        (6, &json!("limit"), &json!(2)),
        "{run:#}"
    );
    let story = json!(events).to_string();
    // The block of the last answer is not run.
    assert_eq!(story.matches("\"tool_called\"").count(), 1, "{story}");
    assert_eq!(story.matches("\"tool_returned\"").count(), 1, "{story}");
}
