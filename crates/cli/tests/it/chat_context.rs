//! Models with a small context: which tools are offered, and which results are dropped.

use deft_testkit::ModelAnswer;
use serde_json::{Value, json};

use crate::chat_support::{deft, messages, model, section, tools};
use crate::support::World;

/// Returns the approximate tokens of a request as deft counts them: three characters per token.
fn tokens(request: &Value) -> usize {
    let prompt: usize = messages(request).iter().map(|(_, text)| text.len()).sum();
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    let tools = tools.iter().map(|tool| {
        let function = &tool["function"];
        function["description"].as_str().unwrap().len() + function["parameters"].to_string().len()
    });
    (prompt + tools.sum::<usize>()) / 3
}

/// Results that exceed the context together with earlier messages do not end the answer.
#[test]
fn prompts_fit_a_small_context() {
    let model = model([
        ModelAnswer::call("skill", json!({"skill_name": "aaa-long"})),
        ModelAnswer::call("get_tool_catalog", json!({})),
        ModelAnswer::text("That is a lot."),
    ]);
    let world = World::new();
    let config = section(&model.url).trim_end().to_owned() + "\ncontext_tokens = 4096\n";
    world.write("home/config.toml", config);
    world.json(&["init", "--yes", "--json"]);
    let page = "---\nname: aaa-long\ndescription: Is long.\n---\n".to_owned();
    let page = page + &"A long page has many lines.\n".repeat(600);
    world.write("home/skills/aaa-long/SKILL.md", page);
    let output = deft(&world, &["chat", "-p", "What can you do?"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, "That is a lot.\n"),
        "{output:?}"
    );
    let asked = model.requests();
    assert_eq!(asked.len(), 3);
    for request in &asked {
        let taken = tokens(request);
        assert!(taken <= 4096, "{taken}: {request:#}");
        let offered = tools(request);
        // The most needed tools are offered first, regardless of alphabetical order.
        assert_eq!(offered[..3], ["skill", "get_tool_catalog", "skill_run"]);
    }
    let prompt = messages(&asked[2]);
    assert!(
        prompt
            .iter()
            .any(|(role, text)| role == "tool" && text.contains("[cut: ")),
        "{prompt:#?}"
    );
    assert_eq!(
        prompt[1],
        ("user".to_owned(), "What can you do?".to_owned())
    );
}
