//! `wait:` steps: parked in the store, woken by a daemon or a tick.

use std::sync::Arc;

use deft_engine::Attention;
use deft_model::{Outcome, RunStatus};
use deft_store::{CancelState, Store};
use deft_store_testkit::Memory;
use deft_wire::run::StepStatus;
use serde_json::json;

use crate::time_world::{Times, at, file};
use crate::world::fire;

const RESTS: &str = "name: rests\ndescription: d\ntimeout: 10m\nsteps:\n  - {id: before, tool: echo}\n  - {id: rest, wait: 90m}\n  - {id: after, tool: echo, args: {text: \"{{ rest }}\"}}\n";
const SHORT: &str = "name: short\ndescription: d\nsteps:\n  - {id: rest, wait: 10s}\n";
const OUTER: &str =
    "name: outer\ndescription: d\nsteps:\n  - {id: call, skill: rests, timeout: 1m}\n";

fn skills() -> [(&'static str, &'static str); 3] {
    [
        ("rests.yaml", RESTS),
        ("short.yaml", SHORT),
        ("outer.yaml", OUTER),
    ]
}

fn attended() -> Attention {
    Attention::default()
}

/// Returns both stores, each with a second engine over it.
fn worlds(folder: &tempfile::TempDir) -> Vec<(Times, Times)> {
    let memory: Arc<dyn Store> = Arc::new(Memory::new());
    let second = Times::with_store(Arc::clone(&memory), &skills());
    vec![
        (Times::with_store(memory, &skills()), second),
        (
            Times::with_store(file(folder), &skills()),
            Times::with_store(file(folder), &skills()),
        ),
    ]
}

/// The wait does not count towards the timeout of the run: `timeout: 10m` allows a wait of ninety minutes.
#[tokio::test]
async fn a_wait_parks_the_run_and_another_process_resumes_it() {
    let folder = tempfile::tempdir().unwrap();
    for (first, second) in worlds(&folder) {
        for skill in ["rests", "outer"] {
            first.world.clock.set(at("13:00"));
            let run = first.world.engine.run(fire(skill, &json!({})), attended());
            let run = run.await.unwrap();
            let row = first.runs(skill).await.remove(0);
            assert_eq!(row.status, RunStatus::Waiting, "{run:?}");
            let waits = row.waits_for().unwrap();
            assert!(waits.starts_with("a wait until "), "{waits}");
            let shown = first.world.engine.show(&row).await.unwrap();
            let rest = shown.steps.iter().find(|step| step.kind == "wait").unwrap();
            assert_eq!(rest.status, StepStatus::Waiting, "{shown:?}");
            let reason = format!("until {}", at("14:30"));
            assert_eq!(rest.reason.as_ref(), Some(&reason));
            second.world.clock.set(at("14:29"));
            second.drain().await;
            assert_eq!(second.runs(skill).await[0].status, RunStatus::Waiting);
            second.world.clock.set(at("14:30"));
            second.drain().await;
            let row = second.runs(skill).await.remove(0);
            assert_eq!(row.outcome, Some(Outcome::Success), "{row:?}");
        }
    }
}

#[tokio::test]
async fn a_waiting_run_can_be_cancelled_and_resumed() {
    let folder = tempfile::tempdir().unwrap();
    for (first, _) in worlds(&folder) {
        first.world.clock.set(at("13:00"));
        let engine = &first.world.engine;
        engine
            .run(fire("rests", &json!({})), attended())
            .await
            .unwrap();
        let row = first.runs("rests").await.remove(0);
        let state = engine.cancel(&row.id, "ada").await.unwrap();
        assert!(matches!(state, CancelState::Done(_)), "{state:?}");
        let row = first.runs("rests").await.remove(0);
        assert_eq!(row.outcome, Some(Outcome::Cancelled));
        first.world.clock.set(at("14:30"));
        first.drain().await;
        let row = first.runs("rests").await.remove(0);
        assert_eq!(row.outcome, Some(Outcome::Cancelled), "{row:?}");
    }
}

/// The driver of a run sleeps through a short wait itself.
#[tokio::test]
async fn a_short_wait_is_not_parked() {
    let t = Times::with_store(Arc::new(Memory::new()), &skills());
    let clock = t.world.clock.clone();
    let engine = t.world.engine.clone();
    let run = tokio::spawn(async move { engine.run(fire("short", &json!({})), attended()).await });
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
    clock.set(at("13:01"));
    let row = run.await.unwrap().unwrap();
    assert_eq!(row.run().outcome, Some(Outcome::Success));
}
