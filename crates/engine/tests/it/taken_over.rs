//! Values from other runs: cached results and reused steps.

use std::sync::Arc;

use deft_engine::{Admission, Attention};
use deft_model::{Outcome, RunStatus};
use deft_store::RunFilter;
use deft_store::prelude::*;
use deft_store_testkit::Memory;
use serde_json::{Value, json};

use crate::world::{World, fire, from_step};

/// The first step returns its arguments, including the secret; the second passes them on.
const PASSES: &str = "name: passes\ndescription: d\nsecrets: [TOKEN]\nsteps:\n  - id: get\n    tool: act\n    cache: 300\n    args: {auth: \"{{ secrets.TOKEN }}\"}\n  - id: hand\n    tool: put\n    args: {auth: \"Bearer {{ get.did.auth }}\"}\n";

fn passed(world: &World) -> Vec<Value> {
    let calls = world.calls.lock().unwrap();
    let puts = calls.iter().filter(|(tool, _)| tool == "put");
    puts.map(|(_, args)| args["auth"].clone()).collect()
}

async fn stored(world: &World) -> String {
    let events = world.store.events(None, 0, u32::MAX).await.unwrap();
    events.into_iter().map(|event| event.body).collect()
}

#[tokio::test]
async fn a_secret_in_a_cached_result_belongs_to_the_current_run() {
    let world = World::new(&[("passes.yaml", PASSES)]);
    world.run("passes", json!({})).await;
    let second = world.run("passes", json!({})).await;
    assert_eq!(second.outcome, Some(Outcome::Success), "{:?}", second.error);
    assert_eq!(
        world.called(),
        ["act", "put", "put"],
        "the second is cached"
    );
    assert_eq!(
        passed(&world),
        ["Bearer s3cr3t-value", "Bearer s3cr3t-value"]
    );
    assert!(!stored(&world).await.contains("s3cr3t-value"));
}

#[tokio::test]
async fn a_cached_result_with_an_unknown_secret_is_not_used() {
    let knows = "name: knows\ndescription: d\nsecrets: [TOKEN]\nsteps:\n  - {id: get, tool: leak, cache: 300}\n";
    let stranger =
        "name: stranger\ndescription: d\nsteps:\n  - {id: get, tool: leak, cache: 300}\n";
    let world = World::new(&[("knows.yaml", knows), ("stranger.yaml", stranger)]);
    world.run("knows", json!({})).await;
    world.run("knows", json!({})).await;
    assert_eq!(world.called(), ["leak"]);
    world.run("stranger", json!({})).await;
    assert_eq!(world.called(), ["leak", "leak"]);
}

#[tokio::test]
async fn a_secret_in_a_reused_step_belongs_to_the_new_run() {
    let world = World::new(&[("passes.yaml", PASSES)]);
    let first = world.run("passes", json!({})).await;
    let again = world
        .engine
        .rerun(&first, &from_step("hand"), Attention::default())
        .await
        .unwrap();
    assert_eq!(again.run().outcome, Some(Outcome::Success));
    let third = world
        .engine
        .rerun(again.run(), &from_step("hand"), Attention::default())
        .await;
    assert_eq!(third.unwrap().run().outcome, Some(Outcome::Success));
    assert_eq!(world.called(), ["act", "put", "put", "put"]);
    assert_eq!(passed(&world), ["Bearer s3cr3t-value"; 3]);
    assert!(!stored(&world).await.contains("s3cr3t-value"));
}

#[tokio::test]
async fn a_secret_in_a_reused_nested_result_is_known() {
    let inner = "name: inner\ndescription: d\nsecrets: [TOKEN]\nsteps:\n  - {id: get, tool: act, args: {auth: \"{{ secrets.TOKEN }}\"}}\n";
    let outer = "name: outer\ndescription: d\nsteps:\n  - {id: go, skill: inner}\n  - {id: hand, tool: put, args: {auth: \"{{ go.did.auth }}\"}}\n";
    let world = World::new(&[("inner.yaml", inner), ("outer.yaml", outer)]);
    let first = world.run("outer", json!({})).await;
    let again = world
        .engine
        .rerun(&first, &from_step("hand"), Attention::default())
        .await;
    assert_eq!(again.unwrap().run().outcome, Some(Outcome::Success));
    assert_eq!(world.called(), ["act", "put", "put"]);
    assert_eq!(passed(&world), ["s3cr3t-value"; 2]);
}

/// The other process has only the store and the skills.
#[tokio::test]
async fn a_queued_rerun_can_be_started_by_another_process() {
    let hangs = "name: hangs\ndescription: d\nsteps:\n  - {id: wait, tool: hang}\n";
    let skills = [("passes.yaml", PASSES), ("hangs.yaml", hangs)];
    let store = Arc::new(Memory::new());
    let world = World::with(store.clone(), &skills, |options| {
        options.max_running = Some(1);
    });
    let first = world.run("passes", json!({})).await;
    let engine = world.engine.clone();
    let hanging = tokio::spawn(async move {
        let run = engine.run(fire("hangs", &json!({})), Attention::default());
        run.await.unwrap().run().clone()
    });
    while world.called().len() < 3 {
        tokio::task::yield_now().await;
    }
    let engine = world.engine.clone();
    let again = tokio::spawn(async move {
        engine
            .rerun(&first, &from_step("hand"), Attention::default())
            .await
    });
    let queued = RunFilter {
        statuses: vec![RunStatus::Queued],
        ..RunFilter::default()
    };
    let queued = loop {
        if let Some(row) = store.runs(queued.clone()).await.unwrap().pop() {
            break row;
        }
        tokio::task::yield_now().await;
    };
    again.abort();
    hanging.abort();
    drop((again.await, hanging.await));
    let World {
        home,
        folder,
        engine,
        ..
    } = world;
    drop(engine);
    let next = World::at(home, folder, store, |_| {});
    next.engine.recover().await.unwrap();
    next.engine.drain(&Attention::default()).await.unwrap();
    let row = next.store.run(&queued.id).await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    assert_eq!(next.called(), ["put"], "its first step counts again");
    assert_eq!(passed(&next), ["Bearer s3cr3t-value"]);
}

#[tokio::test]
async fn an_admitted_run_keeps_its_working_folder() {
    let skill = "name: where\ndescription: d\nsteps:\n  - {id: say, tool: echo, args: {at: \"{{ workspace_uri }}\"}}\n";
    let world = World::new(&[("where.yaml", skill)]);
    let mut asked = fire("where", &json!({}));
    asked.workspace_uri = Some("file:///project".to_owned());
    let Admission::Run(row) = world.engine.admit(asked).await.unwrap() else {
        panic!("the run was there already");
    };
    world.engine.drain(&Attention::default()).await.unwrap();
    let row = world.store.run(&row.id).await.unwrap().unwrap();
    assert_eq!(row.outputs.as_deref(), Some(r#"{"at":"file:///project"}"#));
}
