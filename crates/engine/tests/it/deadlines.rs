//! Time limits of runs and of the skills inside them.

use deft_engine::Attention;
use deft_model::{FailureClass, Outcome};
use deft_store::RunRow;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::world::{World, fire};

const INNER: &str = "name: inner\ndescription: d\nsteps:\n  - {id: first, tool: act}\n  - {id: wait, tool: hang}\n  - {id: last, tool: act}\n";
const OUTER: &str = "name: outer\ndescription: d\nTIMEOUT\nsteps:\n  - {id: call, skill: middle}\n  - {id: after, tool: put}\n";
const MIDDLE: &str = "name: middle\ndescription: d\nsteps:\n  - {id: deeper, skill: inner}\n";

fn start(world: &World) -> JoinHandle<RunRow> {
    let engine = world.engine.clone();
    tokio::spawn(async move {
        let run = engine.run(fire("outer", &json!({})), Attention::default());
        run.await.unwrap().run().clone()
    })
}

async fn until_called(world: &World, times: usize) {
    while world.called().len() < times {
        tokio::task::yield_now().await;
    }
}

fn error(row: &RunRow) -> Value {
    serde_json::from_str(row.error.as_deref().unwrap_or("null")).unwrap()
}

#[tokio::test]
async fn the_deadline_of_a_run_applies_to_nested_skills() {
    let outer = OUTER.replace("TIMEOUT", "timeout: 60");
    let skills = [
        ("outer.yaml", outer.as_str()),
        ("middle.yaml", MIDDLE),
        ("inner.yaml", INNER),
    ];
    let world = World::new(&skills);
    let run = start(&world);
    until_called(&world, 2).await;
    world.clock.set("2026-01-26T13:01:00Z".parse().unwrap());
    let row = run.await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Error));
    assert_eq!(error(&row)["class"], "timeout");
    assert_eq!(world.called(), ["act", "hang"]);
    let shown = world.engine.show(&row).await.unwrap();
    let mut inner = shown.steps.into_iter();
    let hung = inner.find(|step| step.id == "call/deeper/wait").unwrap();
    assert_eq!(hung.error.unwrap().class, FailureClass::Timeout);
}

#[tokio::test]
async fn a_nested_skill_is_stopped_in_time_and_the_run_continues() {
    let outer = OUTER.replace("TIMEOUT\n", "").replace(
        "skill: middle",
        "skill: middle, timeout: 30, on_error: continue",
    );
    let skills = [
        ("outer.yaml", outer.as_str()),
        ("middle.yaml", MIDDLE),
        ("inner.yaml", INNER),
    ];
    let world = World::new(&skills);
    let run = start(&world);
    until_called(&world, 2).await;
    world.clock.set("2026-01-26T13:00:30Z".parse().unwrap());
    let row = run.await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    assert_eq!(world.called(), ["act", "hang", "put"]);
    let shown = world.engine.show(&row).await.unwrap();
    let error = shown.steps[0].error.as_ref().unwrap();
    assert_eq!(error.class, FailureClass::Timeout);
}

#[tokio::test]
async fn a_wait_of_a_nested_skill_beyond_the_deadline_is_not_started() {
    let inner = "name: inner\ndescription: d\nsteps:\n  - {id: again, tool: refuse, on_error: \"retry:9\"}\n";
    let middle = MIDDLE.replace("steps:", "timeout: 2\nsteps:");
    let outer = OUTER.replace("TIMEOUT\n", "");
    let skills = [
        ("outer.yaml", outer.as_str()),
        ("middle.yaml", middle.as_str()),
        ("inner.yaml", inner),
    ];
    let world = World::new(&skills);
    let run = start(&world);
    until_called(&world, 1).await;
    world.clock.set("2026-01-26T13:00:01.5Z".parse().unwrap());
    until_called(&world, 2).await;
    world.clock.set("2026-01-26T13:00:02Z".parse().unwrap());
    let row = run.await.unwrap();
    assert_eq!(row.outcome, Some(Outcome::Error));
    let message = "skill `middle` exceeded its `timeout`";
    assert_eq!(error(&row)["message"], message);
    assert_eq!(world.called(), ["refuse", "refuse"]);
}
