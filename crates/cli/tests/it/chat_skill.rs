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
fn the_tree_shows_what_the_agent_calls() {
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
fn what_it_took_and_how_it_went_is_kept() {
    let model = model(answers());
    let world = herald(&model);
    let came = deft(&world, &["run", "herald", "--json"]);
    let run = came.json();
    assert_eq!(
        (came.code, &run["outcome"]),
        (0, &json!("success")),
        "{run:#}"
    );
    // The agent gets only the tools and the instructions of the skill.
    let asked = model.requests();
    let offered = tools(&asked[0]);
    assert_eq!(offered, ["time_now", "notify"]);
    let said = messages(&asked[0]);
    assert!(
        said.iter()
            .any(|(_, text)| text.contains("then announce the hour")),
        "{said:?}"
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
fn a_tool_that_was_not_named_is_refused() {
    let model = model([
        ModelAnswer::call("memory_list_skills", json!({})),
        ModelAnswer::text("Never mind."),
        ModelAnswer::text("Never mind."),
        ModelAnswer::text("Never mind."),
    ]);
    let world = herald(&model);
    let came = deft(&world, &["run", "herald"]);
    // The required tool was not called.
    assert_eq!(came.code, 1, "{came:?}");
    assert!(
        came.stderr.contains("! memory_list_skills  refused: "),
        "{came:?}"
    );
    let id = runs(&world, "herald")[0]["id"].as_str().unwrap().to_owned();
    let story = deft(&world, &["runs", "logs", &id]).stdout;
    assert!(story.contains("memory_list_skills"), "{story}");
    assert!(story.contains("refused"), "{story}");
}

/// S2.18: a chat uses the last good revision of skills with broken files, and notes it in one line.
#[test]
fn a_broken_skill_is_used_as_it_was() {
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
    let came = deft(&world, &["chat", "-p", "Hi"]);
    assert_eq!(came.code, 0, "{came:?}");
    let warning =
        "warning: the file of `greet` has errors; its last good version is in use; hint: ";
    assert!(came.stderr.starts_with(warning), "{came:?}");
    assert_eq!(came.stderr.lines().count(), 1, "{came:?}");
    let prompt = deft(&world, &["chat", "--show-prompt", "-p", "Hi", "--json"]);
    assert!(prompt.stdout.contains("Greets people."), "{prompt:?}");
}
