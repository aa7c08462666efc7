//! Texts of tools, servers and models are stored within limits and without keys.

use std::sync::{Arc, Mutex};

use deft_engine::Options;
use deft_llm::Models;
use deft_model::{Effects, Failure, FailureClass, Outcome};
use deft_store::RunRow;
use deft_store_testkit::Memory;
use deft_testkit::{Dialect, ModelAnswer, ModelServer};
use deft_tools::{Definition, Reference};
use serde_json::{Value, json};

use crate::agent_case::model;
use crate::world::{Folder, MODEL_KEY, World, load};

const AGENT: &str = "---\nname: talks\ndescription: For a story\nmetadata:\n  \
    required_tools: [\"leak_key\", \"howl\"]\n---\nTalk.\n";

fn error(run: &RunRow) -> Failure {
    serde_json::from_str(run.error.as_ref().unwrap()).unwrap()
}

/// Returns a world whose agent uses this model.
fn with_model(server: &ModelServer, change: impl FnOnce(&mut Options)) -> World {
    let home = tempfile::tempdir().unwrap();
    let folder = Folder(Arc::new(Mutex::new(load(
        &home,
        &[("talks/SKILL.md", AGENT)],
    ))));
    let tools = deft_tools::Options {
        withheld: vec![Reference::new("env:MODEL_KEY")],
        ..deft_tools::Options::default()
    };
    let models = Models::new(vec![model("double", &server.url)]);
    let world = World::from_parts(
        home,
        folder,
        Arc::new(Memory::new()),
        (tools, models),
        change,
    );
    install(&world);
    world
}

fn install(world: &World) {
    let schema = || json!({"type": "object"});
    world.engine.router().register_fn(
        Definition::new("howl", "Fails with many words.", Effects::None, schema()),
        |_, _| async { Err(Failure::new(FailureClass::Quota, "ä".repeat(2 << 20))) },
    );
    world.engine.router().register_fn(
        Definition::new("leak_key", "Knows a key.", Effects::None, schema()),
        |_, _| async { Ok(json!({"key": MODEL_KEY})) },
    );
}

/// Returns everything that is stored about a run.
async fn stored(world: &World, run: &RunRow) -> String {
    let events = world
        .store
        .events(Some(&run.id), 0, u32::MAX)
        .await
        .unwrap();
    let events: Vec<String> = events.into_iter().map(|event| event.body).collect();
    format!("{run:?}{}", events.join("\n"))
}

#[tokio::test]
async fn a_long_error_is_cut_and_stored_whole_in_a_file() {
    let text = "name: fails\ndescription: d\nsteps:\n  - {id: one, tool: howl}\n";
    let world = World::new(&[("fails.yaml", text)]);
    install(&world);
    let run = world.run("fails", json!({})).await;
    let error = error(&run);
    assert_eq!(error.class, FailureClass::Quota);
    let end = "ä … (the message has 4194304 bytes, more than 1048576)";
    assert!(error.message.ends_with(end), "{}", error.message.len());
    assert!(error.message.len() < 3000, "{}", error.message.len());
    let hint = error.hint.unwrap();
    let file = hint.split('`').nth(1).unwrap();
    let whole: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(whole, json!("ä".repeat(2 << 20)));
    assert!(stored(&world, &run).await.len() < 50_000);
}

#[tokio::test]
async fn a_long_error_of_a_tool_of_an_agent_is_cut_too() {
    let answers = [
        ModelAnswer::call("howl", json!({})),
        ModelAnswer::text("It failed."),
    ];
    let server = ModelServer::start(Dialect::OpenAi, answers);
    let world = with_model(&server, |_| {});
    let run = world.run("talks", json!({})).await;
    assert_eq!(run.outcome, Some(Outcome::Success), "{run:?}");
    assert!(stored(&world, &run).await.len() < 50_000);
}

#[tokio::test]
async fn answers_of_models_have_the_size_limit_of_results() {
    let long = "x".repeat(200_000);
    let server = ModelServer::start(Dialect::OpenAi, [ModelAnswer::text(&long)]);
    let world = with_model(&server, |options| options.max_result_bytes = 100_000);
    let run = world.run("talks", json!({})).await;
    let error = error(&run);
    assert_eq!(error.class, FailureClass::Limit, "{error}");
    assert!(error.message.contains("more than 100000"), "{error}");
    let hint = error.hint.unwrap();
    let file = hint.split('`').nth(1).unwrap();
    let whole: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(whole["text"], json!(long));
    assert!(stored(&world, &run).await.len() < 50_000);
}

#[tokio::test]
async fn the_key_of_a_provider_reaches_neither_the_store_nor_a_prompt() {
    let answers = [
        ModelAnswer::call("leak_key", json!({})),
        ModelAnswer::text(&format!("The key is {MODEL_KEY}.")),
    ];
    let server = ModelServer::start(Dialect::OpenAi, answers);
    let world = with_model(&server, |_| {});
    let run = world.run("talks", json!({})).await;
    assert_eq!(run.outcome, Some(Outcome::Success), "{run:?}");
    let stored = stored(&world, &run).await;
    assert!(stored.contains("The key is ***."), "{stored}");
    let asked = json!(server.requests()).to_string();
    for text in [stored, asked] {
        assert!(!text.contains(MODEL_KEY), "{text}");
    }
}

#[tokio::test]
async fn the_key_of_a_provider_is_hidden_in_its_errors() {
    let digits: String = MODEL_KEY.bytes().map(|b| format!("{b:02X}")).collect();
    let words = format!("no such key: {MODEL_KEY} ({digits})");
    let server = ModelServer::start(Dialect::OpenAi, [ModelAnswer::error(401, &words)]);
    let world = with_model(&server, |_| {});
    let run = world.run("talks", json!({})).await;
    let error = error(&run);
    assert!(error.message.contains("no such key: *** (***)"), "{error}");
}
