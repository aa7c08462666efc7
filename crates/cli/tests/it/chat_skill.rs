//! Skills run by an agent with `deft run`: the live display and the stored result.

use deft_testkit::ModelAnswer;
use serde_json::json;

use crate::chat_support::{deft, home, messages, model, tools};
use crate::daemon::runs;
use crate::support::World;
use crate::terminal::Terminal;

const HERALD: &str = "\
---
name: herald
description: Looks at the clock and announces the hour.
metadata:
  required_tools: [time.now, notify]
  expect: {\"called\": [\"notify\"]}
---
Look at the clock, then announce the hour.
";

fn answers() -> [ModelAnswer; 3] {
    [
        ModelAnswer::call("time_now", json!({})),
        ModelAnswer::call("notify", json!({"message": "It is noon"})),
        ModelAnswer::text("Announced."),
    ]
}

fn herald(model: &deft_testkit::ModelServer) -> World {
    let world = home(model, "");
    world.write("home/skills/herald/SKILL.md", HERALD);
    world
}

#[test]
fn the_tree_shows_the_calls_of_the_agent() {
    let model = model(answers());
    let world = herald(&model);
    let mut terminal = Terminal::start(&world, &["run", "herald"]);
    terminal.until("success after");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    let lines: Vec<&str> = screen.lines().collect();
    for (line, start) in lines.iter().zip([
        "  ✓ agent  agent  ",
        "    ✓ time.now  ",
        "    ✓ notify  {\"message\":\"It is noon\"}  ",
        "success after ",
        "Announced.",
    ]) {
        assert!(line.starts_with(start), "{screen}");
    }
}

#[test]
fn the_usage_and_outcome_of_an_agent_skill_are_stored() {
    let model = model(answers());
    let world = herald(&model);
    let output = deft(&world, &["run", "herald", "--json"]);
    let run = output.json();
    assert_eq!(
        (output.code, &run["outcome"]),
        (0, &json!("success")),
        "{run:#}"
    );
    // The agent gets only the tools and the instructions of the skill.
    let asked = model.requests();
    let offered = tools(&asked[0]);
    assert_eq!(offered, ["time_now", "notify"]);
    let prompt = messages(&asked[0]);
    assert!(
        prompt
            .iter()
            .any(|(_, text)| text.contains("then announce the hour")),
        "{prompt:?}"
    );
    let id = run["id"].as_str().unwrap();
    let shown = world.json(&["runs", "show", id, "--json"]);
    assert_eq!(
        shown["run"]["usage"],
        json!({"input_tokens": 30, "output_tokens": 15, "cost_usd": 0.06, "llm_calls": 3}),
        "{shown:#}"
    );
    let people = deft(&world, &["runs", "show", id]);
    let took = "  models     3 calls of a model, 30 tokens in, 15 out, 0.06 USD\n";
    assert!(people.stdout.contains(took), "{people:?}");
    let story = deft(&world, &["runs", "logs", id]);
    let mut rest = story.stdout.as_str();
    for text in ["time.now", "notify", "It is noon", "Announced."] {
        let at = rest.find(text);
        rest = &rest[at.unwrap_or_else(|| panic!("no `{text}`: {}", story.stdout))..];
    }
}

/// A tool that the skill does not list is refused, and the person sees it.
#[test]
fn an_unlisted_tool_is_refused() {
    let model = model([
        ModelAnswer::call("memory_list_skills", json!({})),
        ModelAnswer::text("Never mind."),
        ModelAnswer::text("Never mind."),
        ModelAnswer::text("Never mind."),
    ]);
    let world = herald(&model);
    let output = deft(&world, &["run", "herald"]);
    // The required tool was not called.
    assert_eq!(output.code, 1, "{output:?}");
    assert!(
        output.stderr.contains("! memory_list_skills  refused: "),
        "{output:?}"
    );
    let id = runs(&world, "herald")[0]["id"].as_str().unwrap().to_owned();
    let story = deft(&world, &["runs", "logs", &id]).stdout;
    assert!(story.contains("memory_list_skills"), "{story}");
    assert!(story.contains("refused"), "{story}");
}

/// S2.18: a chat uses the last good revision of skills with broken files, and notes it in one line.
#[test]
fn the_last_good_revision_of_a_broken_skill_is_used() {
    let hello = || ModelAnswer::text("Hello.");
    let server = model([hello(), hello()]);
    let world = home(&server, "");
    let skill = "---\nname: greet\ndescription: Greets people.\n---\n\nSay hello.\n";
    world.write("home/skills/greet/SKILL.md", skill);
    assert_eq!(deft(&world, &["chat", "-p", "Hi"]).stderr, "");
    world.write(
        "home/skills/greet/SKILL.md",
        skill.replace("people.\n---", "people.\n"),
    );
    let output = deft(&world, &["chat", "-p", "Hi"]);
    assert_eq!(output.code, 0, "{output:?}");
    let warning =
        "warning: the file of `greet` has errors; its last good version is in use; hint: ";
    assert!(output.stderr.starts_with(warning), "{output:?}");
    assert_eq!(output.stderr.lines().count(), 1, "{output:?}");
    let prompt = deft(&world, &["chat", "--show-prompt", "-p", "Hi", "--json"]);
    assert!(prompt.stdout.contains("Greets people."), "{prompt:?}");
}
