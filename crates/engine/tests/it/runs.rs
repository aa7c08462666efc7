//! Runs from the fire to the stored row.

use std::sync::Arc;
use std::time::Duration;

use deft_engine::{Admission, Attention};
use deft_model::{Outcome, RunStatus};
use deft_store::RunFilter;
use deft_store_testkit::Memory;
use deft_testkit::{Script, server_binary};
use deft_tools::ServerOptions;
use serde_json::{Value, json};

use crate::world::{World, fire};

const GREET: &str = "\
name: greet
description: Says hello
inputs:
  - name: who
    type: string
    required: true
steps:
  - id: one
    tool: echo
    args:
      text: \"hello {{ inputs.who }}\"
  - id: two
    tool: act
    args:
      said: \"{{ one.text }}\"
outputs:
  said: \"{{ two.did.said }}\"
";

#[tokio::test]
async fn a_workflow_runs_from_its_trigger_to_its_stored_row() {
    let world = World::new(&[("greet.yaml", GREET)]);
    let row = world.run("greet", json!({ "who": "Ada" })).await;
    assert_eq!(row.status, RunStatus::Done);
    assert_eq!(row.outcome, Some(Outcome::Success));
    let outputs: Value = serde_json::from_str(&row.outputs.clone().unwrap()).unwrap();
    assert_eq!(outputs, json!({ "said": "hello Ada" }));
    assert_eq!(world.called(), ["echo", "act"]);
    let events = world.events(&row).await;
    let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    let expected = [
        "skill_started",
        "step_started",
        "step_completed",
        "step_started",
        "step_completed",
        "skill_completed",
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn bad_inputs_and_unknown_skills_are_refused_before_anything_is_stored() {
    let world = World::new(&[("greet.yaml", GREET)]);
    let run = |skill: &str, inputs: Value| {
        let fire = fire(skill, &inputs);
        let engine = world.engine.clone();
        async move { engine.run(fire, Attention::default()).await.unwrap_err() }
    };
    let unknown = run("gret", json!({})).await;
    assert_eq!(unknown.to_string(), "unknown skill `gret`");
    assert_eq!(unknown.hint().unwrap(), "did you mean `greet`?");
    let missing = run("greet", json!({ "whom": "Ada" })).await;
    assert_eq!(
        missing.to_string(),
        "2 invalid inputs\n  input `who` is missing\n  unknown input `whom` (did you mean `who`?)"
    );
    let wrong = run("greet", json!({ "who": 7 })).await;
    assert_eq!(wrong.to_string(), "input `who` must be text, not `7`");
    assert!(
        world
            .store
            .runs(RunFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_same_key_never_runs_again() {
    let world = World::new(&[("greet.yaml", GREET)]);
    let mut fire = fire("greet", &json!({ "who": "Ada" }));
    fire.key = Some("monday".to_owned());
    let first = world
        .engine
        .run(fire.clone(), Attention::default())
        .await
        .unwrap();
    let second = world.engine.run(fire, Attention::default()).await.unwrap();
    assert!(matches!(second, Admission::Existing(_)));
    assert_eq!(first.run().id, second.run().id);
    assert_eq!(world.called(), ["echo", "act"]);
}

#[tokio::test]
async fn a_large_result_fails_its_step_and_is_stored_in_a_file() {
    let skill = "name: big\ndescription: d\nsteps:\n  - id: large\n    tool: big\n";
    let world = World::new(&[("big.yaml", skill)]);
    let row = world.run("big", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Error));
    let error: Value = serde_json::from_str(&row.error.unwrap()).unwrap();
    assert_eq!(error["class"], "limit");
    let hint = error["hint"].as_str().unwrap();
    let path = hint.split('`').nth(1).unwrap();
    assert!(std::fs::metadata(path).unwrap().len() > 2 << 20);
}

#[tokio::test]
async fn a_cached_result_is_reused_until_it_expires() {
    let skill = "name: c\ndescription: d\nsteps:\n  - id: get\n    tool: act\n    args: {a: 1}\n    cache: 300\n";
    let world = World::new(&[("c.yaml", skill)]);
    world.run("c", json!({})).await;
    let second = world.run("c", json!({})).await;
    assert_eq!(world.called(), ["act"]);
    let events = world.events(&second).await;
    let done = events
        .iter()
        .find(|e| e["type"] == "step_completed")
        .unwrap();
    assert_eq!(done["cached"], true);
    world.clock.set("2026-01-26T13:05:01Z".parse().unwrap());
    world.run("c", json!({})).await;
    assert_eq!(world.called(), ["act", "act"]);
}

#[tokio::test]
async fn secrets_reach_only_the_tool() {
    let skill = "name: s\ndescription: d\nsecrets: [TOKEN]\nsteps:\n  - id: call\n    tool: act\n    args:\n      auth: \"Bearer {{ secrets.TOKEN }}\"\n";
    let world = World::new(&[("s.yaml", skill)]);
    let row = world.run("s", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    let seen = world.calls.lock().unwrap()[0].1["auth"].clone();
    assert_eq!(seen, "Bearer s3cr3t-value");
    let stored = world.store.events(Some(&row.id), 0, 1000).await.unwrap();
    let bodies: String = stored.iter().map(|event| event.body.as_str()).collect();
    assert!(!bodies.contains("s3cr3t-value"), "{bodies}");
    assert!(!row.outputs.unwrap().contains("s3cr3t-value"));
}

#[tokio::test]
async fn a_missing_secret_blocks_the_run_before_its_first_step() {
    let skill = "name: s\ndescription: d\nsecrets: [MISSING]\nsteps:\n  - id: call\n    tool: act\n    args: {a: \"{{ secrets.MISSING }}\"}\n";
    let world = World::new(&[("s.yaml", skill)]);
    let row = world.run("s", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Blocked), "{:?}", row.error);
    assert!(world.called().is_empty());
}

#[tokio::test]
async fn an_unknown_tool_blocks_the_run() {
    let skill = "name: s\ndescription: d\nsteps:\n  - id: call\n    tool: ecko\n";
    let world = World::new(&[("s.yaml", skill)]);
    let row = world.run("s", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Blocked), "{:?}", row.error);
    let error: Value = serde_json::from_str(&row.error.unwrap()).unwrap();
    assert!(
        error["hint"].as_str().unwrap().contains("`echo`"),
        "{error}"
    );
}

const OUTER: &str = "\
name: outer
description: Runs another skill
steps:
  - id: inner
    skill: greet
    args: {who: Ada}
  - id: again
    tool: act
    args: {said: \"{{ inner.said }}\"}
outputs: {said: \"{{ again.did.said }}\"}
";

#[tokio::test]
async fn a_skill_runs_another_in_the_same_journal() {
    let world = World::new(&[("greet.yaml", GREET), ("outer.yaml", OUTER)]);
    let row = world.run("outer", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    let outputs: Value = serde_json::from_str(&row.outputs.clone().unwrap()).unwrap();
    assert_eq!(outputs, json!({ "said": "hello Ada" }));
    let events = world.events(&row).await;
    let steps: Vec<&str> = events
        .iter()
        .filter_map(|e| e["step_id"].as_str())
        .collect();
    assert!(steps.contains(&"inner/two"), "{steps:?}");
    assert_eq!(
        world.store.runs(RunFilter::default()).await.unwrap().len(),
        1
    );
}

#[tokio::test]
async fn a_skill_that_runs_itself_ends_at_the_depth_limit() {
    let me = "name: me\ndescription: d\nsteps:\n  - id: again\n    skill: you\n";
    let you = "name: you\ndescription: d\nsteps:\n  - id: back\n    skill: me\n";
    let world = World::new(&[("me.yaml", me), ("you.yaml", you)]);
    let row = world.run("me", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Error));
    let error: Value = serde_json::from_str(&row.error.unwrap()).unwrap();
    assert_eq!(error["class"], "limit");
}

#[tokio::test]
async fn an_agent_step_without_a_model_fails_with_a_hint() {
    let skill =
        "name: a\ndescription: d\nsteps:\n  - id: think\n    agent: \"Think of {{ 1 + 1 }}\"\n";
    let world = World::new(&[("a.yaml", skill)]);
    let row = world.run("a", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Blocked));
    let error: Value = serde_json::from_str(&row.error.unwrap()).unwrap();
    assert_eq!(error["message"], "no model is configured");
}

#[tokio::test]
async fn each_run_leaves_an_entry_in_the_session_log() {
    let world = World::new(&[("greet.yaml", GREET)]);
    let row = world.run("greet", json!({ "who": "Ada\n- x: y" })).await;
    let log = world.home.path().join("sessions/2026-01-26.yaml");
    let expected = format!(
        "- action: \"Skill: greet\"\n  timestamp: \"2026-01-26T13:00:00Z\"\n  run: {}\n  details: |\n    who: Ada - x: y\n    result: success\n    said: hello Ada - x: y\n",
        row.id
    );
    assert_eq!(std::fs::read_to_string(log).unwrap(), expected);
}

/// The log is read with `less` and `cat`: nothing in it may control a terminal or forge an entry.
#[tokio::test]
async fn the_session_log_shows_deceptive_characters() {
    let world = World::new(&[("greet.yaml", GREET)]);
    let row = world
        .run(
            "greet",
            json!({ "who": "A\u{1b}[2J\u{9b}m\u{202e}\n- action: forged" }),
        )
        .await;
    let log = world.home.path().join("sessions/2026-01-26.yaml");
    let expected = format!(
        "- action: \"Skill: greet\"\n  timestamp: \"2026-01-26T13:00:00Z\"\n  run: {}\n  details: |\n    who: A [2J m\\u{{202e}} - action: forged\n    result: success\n    said: hello A [2J m\\u{{202e}} - action: forged\n",
        row.id
    );
    assert_eq!(std::fs::read_to_string(log).unwrap(), expected);
}

#[tokio::test]
async fn session_logs_are_removed_when_they_are_old() {
    let world = World::with(
        Arc::new(Memory::new()),
        &[("greet.yaml", GREET)],
        |options| options.sessions_max_age = Some(Duration::from_hours(7 * 24)),
    );
    let folder = world.home.path().join("sessions");
    std::fs::create_dir_all(&folder).unwrap();
    for name in [
        "2026-01-18.yaml",
        "2026-01-19.yaml",
        "2026-01-27.yaml",
        "2020-01-01.txt",
        "notes.yaml",
    ] {
        std::fs::write(folder.join(name), "").unwrap();
    }
    world.run("greet", json!({ "who": "Ada" })).await;
    let mut left: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(
        left,
        [
            "2020-01-01.txt",
            "2026-01-19.yaml",
            "2026-01-26.yaml",
            "2026-01-27.yaml",
            "notes.yaml"
        ]
    );
}

#[tokio::test]
async fn the_row_that_a_run_returns_is_the_row_that_is_stored() {
    let world = World::new(&[("greet.yaml", GREET)]);
    let row = world.run("greet", json!({ "who": "Ada" })).await;
    let stored = world.store.run(&row.id).await.unwrap();
    assert_eq!(Some(row), stored);
}

#[tokio::test]
async fn a_nested_skill_uses_its_own_secrets() {
    let inner = "name: inner\ndescription: d\nsecrets: [TOKEN]\nsteps:\n  - id: call\n    tool: act\n    args: {auth: \"{{ secrets.TOKEN }}\"}\n";
    let outer = "name: outer\ndescription: d\nsteps:\n  - {id: go, skill: inner}\n";
    let world = World::new(&[("inner.yaml", inner), ("outer.yaml", outer)]);
    let row = world.run("outer", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    let seen = world.calls.lock().unwrap()[0].1["auth"].clone();
    assert_eq!(seen, "s3cr3t-value");
    assert!(!row.outputs.unwrap().contains("s3cr3t-value"));
}

#[tokio::test]
async fn a_missing_tool_is_reported_before_the_first_step() {
    let skill =
        "name: s\ndescription: d\nsteps:\n  - {id: one, tool: act}\n  - {id: two, tool: ackt}\n";
    let world = World::new(&[("s.yaml", skill)]);
    let row = world.run("s", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Blocked), "{:?}", row.error);
    assert!(world.called().is_empty());
}

/// Tools of a server are unknown until it has listed them, so the run waits for the list; then it is checked
/// like any other run, before its first step.
#[tokio::test]
async fn server_tools_are_checked_after_they_are_listed() {
    let skill = |tool: &str| {
        format!(
            "name: s\ndescription: d\nsteps:\n  - {{id: one, tool: act}}\n  - {{id: two, tool: {tool}}}\n"
        )
    };
    for (tool, outcome, called) in [
        ("demo.look", Outcome::Success, 1),
        ("look", Outcome::Success, 1),
        ("demo.lok", Outcome::Blocked, 0),
    ] {
        let world = World::new(&[("s.yaml", &skill(tool))]);
        let script = Script::new().tool("look", json!({"text": "seen"}));
        let arguments = script.write(world.home.path(), "demo").list();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let server = ServerOptions::command(server_binary().to_string_lossy(), &arguments);
        world.engine.router().reload(deft_tools::Options {
            servers: [("demo".to_owned(), server)].into(),
            ..deft_tools::Options::default()
        });
        let row = world.run("s", json!({})).await;
        assert_eq!(row.outcome, Some(outcome), "{tool}: {:?}", row.error);
        assert_eq!(world.called().len(), called, "{tool}");
        if outcome == Outcome::Blocked {
            let error: Value = serde_json::from_str(&row.error.unwrap()).unwrap();
            assert_eq!(
                (&error["message"], &error["hint"]),
                (
                    &json!("step `two` needs the tool `demo.lok`, which no server offers"),
                    &json!("did you mean `look`?")
                )
            );
        }
    }
}

#[tokio::test]
async fn a_key_belongs_to_one_skill() {
    let other = GREET.replace("name: greet", "name: other");
    let world = World::new(&[("greet.yaml", GREET), ("other.yaml", &other)]);
    let mut fire = fire("greet", &json!({ "who": "Ada" }));
    fire.key = Some("k".to_owned());
    world
        .engine
        .run(fire.clone(), Attention::default())
        .await
        .unwrap();
    fire.skill = "other".to_owned();
    let taken = world
        .engine
        .run(fire, Attention::default())
        .await
        .unwrap_err();
    assert!(
        taken
            .to_string()
            .starts_with("the key `k` belongs to run `run_"),
        "{taken}"
    );
}
