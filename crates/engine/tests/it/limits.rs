//! Concurrent runs: overlap, limits, waits and heal rules.

use std::sync::Arc;

use deft_engine::{Admission, Attention};
use deft_model::{FailureClass, Heal, Outcome, RunStatus};
use deft_store::{RunFilter, RunRow};
use deft_store_testkit::Memory;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::world::{World, fire};

const HANGS: &str = "name: hangs\ndescription: d\nOVERLAP\nsteps:\n  - {id: wait, tool: hang}\n";

fn hangs(overlap: &str) -> World {
    let text = HANGS.replace("OVERLAP", overlap);
    World::new(&[("hangs.yaml", &text)])
}

fn start(world: &World) -> JoinHandle<RunRow> {
    let engine = world.engine.clone();
    tokio::spawn(async move {
        let run = engine.run(fire("hangs", &json!({})), Attention::default());
        run.await.unwrap().run().clone()
    })
}

async fn until_called(world: &World, times: usize) {
    while world.called().len() < times {
        tokio::task::yield_now().await;
    }
}

async fn running(world: &World) -> Vec<RunRow> {
    let filter = RunFilter {
        statuses: vec![RunStatus::Running],
        ..RunFilter::default()
    };
    world.store.runs(filter).await.unwrap()
}

#[tokio::test]
async fn overlap_skip_stores_a_row_with_the_reason() {
    let world = hangs("overlap: skip");
    let first = start(&world);
    until_called(&world, 1).await;
    let second = start(&world).await.unwrap();
    assert_eq!(second.outcome, Some(Outcome::Skipped));
    let error: Value = serde_json::from_str(&second.error.unwrap()).unwrap();
    assert!(
        error["message"].as_str().unwrap().contains("still active"),
        "{error}"
    );
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    assert_eq!(first.await.unwrap().outcome, Some(Outcome::Cancelled));
}

#[tokio::test]
async fn overlap_cancel_other_takes_the_place_of_the_first() {
    let world = hangs("overlap: cancel_other");
    let first = start(&world);
    until_called(&world, 1).await;
    let second = start(&world);
    let first = first.await.unwrap();
    assert_eq!(first.outcome, Some(Outcome::Cancelled));
    // The second run polls for its turn.
    tick_until_called(&world, 2).await;
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    assert_eq!(second.await.unwrap().outcome, Some(Outcome::Cancelled));
}

/// Moves the clock until a run that waits for its turn has started.
async fn tick_until_called(world: &World, times: usize) {
    let mut now: jiff::Timestamp = "2026-01-26T13:00:00Z".parse().unwrap();
    while world.called().len() < times {
        now = now
            .checked_add(std::time::Duration::from_millis(50))
            .unwrap();
        world.clock.set(now);
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn overlap_queue_runs_one_after_another() {
    let world = hangs("overlap: queue");
    let first = start(&world);
    until_called(&world, 1).await;
    let second = start(&world);
    while world.store.runs(RunFilter::default()).await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(running(&world).await.len(), 1);
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    first.await.unwrap();
    tick_until_called(&world, 2).await;
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    assert_eq!(second.await.unwrap().outcome, Some(Outcome::Cancelled));
}

#[tokio::test]
async fn a_run_waits_while_the_engine_is_full() {
    let text = HANGS.replace("OVERLAP\n", "");
    let skills = [("hangs.yaml", text.as_str())];
    let world = World::with(Arc::new(Memory::new()), &skills, |options| {
        options.max_running = Some(1);
    });
    let first = start(&world);
    until_called(&world, 1).await;
    let second = start(&world);
    while world.store.runs(RunFilter::default()).await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(running(&world).await.len(), 1);
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    first.await.unwrap();
    tick_until_called(&world, 2).await;
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    second.await.unwrap();
}

#[tokio::test]
async fn a_retry_waits_for_its_instant() {
    let skill = "name: again\ndescription: d\nsteps:\n  - {id: attempt, tool: refuse, on_error: \"retry:2\"}\n";
    let world = World::new(&[("again.yaml", skill)]);
    let engine = world.engine.clone();
    let run = tokio::spawn(async move {
        engine
            .run(fire("again", &json!({})), Attention::default())
            .await
    });
    until_called(&world, 1).await;
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.called().len(), 1);
    tick_until_called(&world, 3).await;
    let row = run.await.unwrap().unwrap().run().clone();
    assert_eq!(row.outcome, Some(Outcome::Error));
    let events = world.events(&row).await;
    let waits: Vec<&Value> = events
        .iter()
        .filter(|e| e["type"] == "step_retrying")
        .collect();
    assert_eq!(waits.len(), 2);
}

#[tokio::test]
async fn a_long_wait_releases_the_lease_if_runs_can_be_resumed() {
    let skill = "name: again\ndescription: d\nsteps:\n  - {id: attempt, tool: refuse, on_error: \"retry:9\"}\n";
    let store = Arc::new(Memory::new());
    let world = World::with(store, &[("again.yaml", skill)], |options| {
        options.park_after = std::time::Duration::ZERO;
    });
    let attention = Attention {
        parks: true,
        ..Attention::default()
    };
    let row = world.run_with("again", json!({}), attention.clone()).await;
    assert_eq!((row.status, &row.owner), (RunStatus::Waiting, &None));
    assert!(
        row.waits_for()
            .unwrap()
            .starts_with("a retry at 2026-01-26T13:00:0")
    );
    assert!(world.engine.drain(&attention).await.unwrap().is_empty());
    world.clock.set("2026-01-26T13:01:00Z".parse().unwrap());
    assert_eq!(world.engine.drain(&attention).await.unwrap(), [row.id]);
    assert_eq!(world.called(), ["refuse", "refuse"]);
}

#[tokio::test]
async fn a_heal_rule_of_the_host_is_tried_before_a_step_fails() {
    let skill = "name: heal\ndescription: d\nsteps:\n  - {id: attempt, tool: refuse}\n";
    let store = Arc::new(Memory::new());
    let world = World::with(store, &[("heal.yaml", skill)], |options| {
        options.heals = vec![Heal {
            when: vec![FailureClass::Auth],
            tool: "put".to_owned(),
            args: json!({ "login": true }),
        }];
    });
    let row = world.run("heal", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Error));
    // Healed three times (`max_heals`), then it fails permanently.
    let expected = ["refuse", "put", "refuse", "put", "refuse", "put", "refuse"];
    assert_eq!(world.called(), expected);
    let events = world.events(&row).await;
    let healed = events
        .iter()
        .find(|e| e["type"] == "auto_heal_triggered")
        .unwrap();
    assert_eq!(
        (
            &healed["step_id"],
            &healed["failure_type"],
            &healed["action"]
        ),
        (&json!("attempt"), &json!("auth"), &json!("put"))
    );
}

#[tokio::test]
async fn a_backward_clock_jump_loses_no_run() {
    let skill = "name: slow\ndescription: d\nsteps:\n  - {id: wait, tool: hang, on_error: continue}\n  - {id: after, tool: act}\n";
    let world = World::new(&[("slow.yaml", skill)]);
    let engine = world.engine.clone();
    let run = tokio::spawn(async move {
        engine
            .run(fire("slow", &json!({})), Attention::default())
            .await
    });
    until_called(&world, 1).await;
    world.clock.set("2020-01-01T00:00:00Z".parse().unwrap());
    world
        .engine
        .cancel(&running(&world).await[0].id, "test")
        .await
        .unwrap();
    let admitted = run.await.unwrap().unwrap();
    let Admission::Run(row) = admitted else {
        panic!("the run was there already");
    };
    assert_eq!(row.outcome, Some(Outcome::Cancelled));
    let shown = world.engine.show(&row).await.unwrap();
    assert_eq!(shown.run.duration_ms, Some(0));
    assert_eq!(shown.steps[0].duration_ms, Some(0));
}
