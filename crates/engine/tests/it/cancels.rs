//! Runs that are cancelled without a driver: their journal is closed, and every listener gets the end.

use std::sync::Arc;

use deft_engine::{Attention, PublishedEvent, ResumeWith};
use deft_model::{FailureClass, Outcome, RunStatus};
use deft_store::{CancelState, RunRow};
use deft_store_testkit::Memory;
use deft_wire::run::StepStatus;
use deft_workflow::Event;
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use crate::world::{World, fire};

const ASKS: &str = "name: asks\ndescription: d\nOVERLAP\nsteps:\n  - {id: first, tool: echo}\n  - {id: danger, tool: act}\nconfirmations:\n  - {step: danger, message: Really?}\n";
const OUTER: &str = "name: outer\ndescription: d\nsteps:\n  - {id: each, loop: [1, 2], loop_concurrency: 2, skill: asks}\n  - {id: after, tool: put}\n";

fn asks() -> String {
    ASKS.replace("OVERLAP\n", "")
}

fn yes() -> Attention {
    Attention {
        assume_yes: Some("--yes".to_owned()),
        ..Attention::default()
    }
}

async fn kinds(world: &World, run: &RunRow) -> Vec<String> {
    let events = world.events(run).await;
    let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
    events.iter().map(kind).collect()
}

/// Returns the last event that listeners received.
fn last(heard: &mut Receiver<Arc<PublishedEvent>>) -> Arc<PublishedEvent> {
    let mut last = None;
    while let Ok(event) = heard.try_recv() {
        last = Some(event);
    }
    last.unwrap()
}

async fn cancel(world: &World, run: &RunRow) -> RunRow {
    let state = world.engine.cancel(&run.id, "ada").await.unwrap();
    let CancelState::Done(row) = state else {
        panic!("{state:?}");
    };
    row
}

#[tokio::test]
async fn a_cancelled_parked_run_ends_for_its_record_and_listeners() {
    let world = World::new(&[("asks.yaml", &asks())]);
    let row = world.run("asks", json!({})).await;
    let mut events = world.engine.subscribe();
    world.clock.set("2026-01-26T13:00:09Z".parse().unwrap());
    let row = cancel(&world, &row).await;
    let kinds = kinds(&world, &row).await;
    assert_eq!(kinds.last().unwrap(), "skill_cancelled");
    let told = last(&mut events);
    let stored = world.store.events(Some(&row.id), 0, 100).await.unwrap();
    assert_eq!(told.seq, stored.last().unwrap().seq);
    let public = json!(told.public().unwrap());
    assert_eq!(
        (&public["error"], &public["duration"]),
        (&json!("cancelled by ada"), &json!(9.0))
    );
    let shown = world.engine.show(&row).await.unwrap();
    assert_eq!(shown.run.error.unwrap().message, "cancelled by ada");
    let statuses: Vec<StepStatus> = shown.steps.iter().map(|step| step.status).collect();
    assert_eq!(statuses, [StepStatus::Success, StepStatus::Skipped]);
    let log = world.home.path().join("sessions/2026-01-26.yaml");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("result: cancelled"), "{log}");
}

#[tokio::test]
async fn a_run_is_cancelled_inside_nested_skills_and_resumed_there() {
    let world = World::new(&[("asks.yaml", &asks()), ("outer.yaml", OUTER)]);
    let row = world.run("outer", json!({})).await;
    assert_eq!(row.status, RunStatus::Waiting);
    let row = cancel(&world, &row).await;
    let shown = world.engine.show(&row).await.unwrap();
    for step in shown.steps {
        // Steps inside items are shown too: the finished one, and the unanswered question.
        let expected = if step.id.contains('/') {
            [StepStatus::Success, StepStatus::Skipped]
        } else {
            [StepStatus::Error, StepStatus::Pending]
        };
        assert!(expected.contains(&step.status), "{step:?}");
    }
    let with = ResumeWith::default();
    let resumed = world.engine.resume(&row, &with, yes()).await.unwrap();
    let row = resumed.run();
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    assert_eq!(world.called(), ["echo", "echo", "act", "act", "put"]);
}

#[tokio::test]
async fn a_cancelled_queued_run_can_be_resumed() {
    let world = World::new(&[("asks.yaml", &asks())]);
    let admitted = world.engine.admit(fire("asks", &json!({}))).await.unwrap();
    let row = cancel(&world, admitted.run()).await;
    assert_eq!(kinds(&world, &row).await, ["skill_cancelled"]);
    let with = ResumeWith::default();
    let resumed = world.engine.resume(&row, &with, yes()).await.unwrap();
    assert_eq!(resumed.run().outcome, Some(Outcome::Success));
    assert_eq!(world.called(), ["echo", "act"]);
}

#[tokio::test]
async fn a_replaced_parked_run_ends_in_its_record() {
    let skill = ASKS.replace("OVERLAP", "overlap: cancel_other");
    let world = World::new(&[("asks.yaml", &skill)]);
    let first = world.run("asks", json!({})).await;
    let mut events = world.engine.subscribe();
    let second = world.run("asks", json!({})).await;
    let first = world.store.run(&first.id).await.unwrap().unwrap();
    assert_eq!(first.outcome, Some(Outcome::Cancelled));
    let ended = kinds(&world, &first).await;
    assert_eq!(ended.last().unwrap(), "skill_cancelled");
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        told.push(event);
    }
    let end = told.iter().find(|event| event.run == first.id);
    assert!(matches!(
        end.map(|end| &end.event),
        Some(Event::Stopped { .. })
    ));
    let error = world.engine.show(&first).await.unwrap().run.error;
    assert_eq!(
        error.unwrap().message,
        format!("cancelled by run `{}`", second.id)
    );
}

#[tokio::test]
async fn a_run_of_a_dead_process_is_checked_before_it_is_cancelled() {
    let hangs = "name: hangs\ndescription: d\nsteps:\n  - {id: wait, tool: hang}\n";
    let store = Arc::new(Memory::new());
    let world = World::with(store.clone(), &[("hangs.yaml", hangs)], |_| {});
    let engine = world.engine.clone();
    let admitted = Arc::new(std::sync::OnceLock::new());
    let attention = Attention {
        admitted: Some(Arc::clone(&admitted)),
        ..Attention::default()
    };
    let task = tokio::spawn(async move { engine.run(fire("hangs", &json!({})), attention).await });
    while world.called().is_empty() {
        tokio::task::yield_now().await;
    }
    task.abort();
    drop(task.await);
    let World {
        home,
        folder,
        engine,
        ..
    } = world;
    drop(engine);
    let next = World::at(home, folder, store, |_| {});
    let row = next.store.run(admitted.get().unwrap()).await.unwrap();
    let row = cancel(&next, &row.unwrap()).await;
    assert_eq!(row.outcome, Some(Outcome::Cancelled));
    let shown = next.engine.show(&row).await.unwrap();
    let error = shown.steps[0].error.as_ref().unwrap();
    assert_eq!(error.class, FailureClass::Interrupted);
    assert!(next.called().is_empty());
}
