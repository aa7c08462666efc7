//! Leases, limits and clocks: who may drive a run, and for how long.

use std::sync::Arc;
use std::time::Duration;

use deft_engine::{Attention, Clock, Error, Options, ResumeWith};
use deft_model::{Outcome, RunStatus};
use deft_store::{Claim, RunFilter, RunRow};
use deft_store_testkit::Memory;
use jiff::Timestamp;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::world::{World, fire};

const HANGS: &str = "name: hangs\ndescription: d\nLIMIT\nsteps:\n  - {id: wait, tool: hang, effects: EFFECTS}\n  - {id: after, tool: act}\n";

fn hangs(limit: &str, effects: &str) -> String {
    HANGS.replace("LIMIT", limit).replace("EFFECTS", effects)
}

fn start(world: &World) -> JoinHandle<Result<RunRow, Error>> {
    let engine = world.engine.clone();
    tokio::spawn(async move {
        let run = engine.run(fire("hangs", &json!({})), Attention::default());
        run.await.map(|admitted| admitted.run().clone())
    })
}

async fn until_called(world: &World, times: usize) {
    while world.called().len() < times {
        tokio::task::yield_now().await;
    }
}

/// Lets all ready tasks run.
async fn let_tasks_run() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn at(second: i64) -> Timestamp {
    let start: Timestamp = "2026-01-26T13:00:00Z".parse().unwrap();
    start
        .checked_add(jiff::SignedDuration::from_secs(second))
        .unwrap()
}

async fn with_status(world: &World, status: RunStatus) -> Vec<RunRow> {
    let filter = RunFilter {
        statuses: vec![status],
        ..RunFilter::default()
    };
    world.store.runs(filter).await.unwrap()
}

#[tokio::test]
async fn a_lease_is_renewed_during_a_run_and_expires_without_a_driver() {
    let world = World::new(&[("hangs.yaml", &hangs("overlap: allow", "idempotent"))]);
    let run = start(&world);
    until_called(&world, 1).await;
    let engine = world.engine.clone();
    let leases = tokio::spawn(async move { engine.keep_leases().await });
    // A lease lasts 30 seconds and is renewed every 10.
    for second in [11, 22, 33, 44] {
        let_tasks_run().await;
        world.clock.set(at(second));
    }
    let_tasks_run().await;
    let released = world.store.release(Vec::new(), at(70)).await.unwrap();
    assert_eq!(released, [], "renewed at 44 seconds");
    leases.abort();
    drop(leases.await);
    world.clock.set(at(75));
    let released = world.store.release(Vec::new(), at(75)).await.unwrap();
    assert_eq!(released.len(), 1, "it ran out at 74 seconds");

    // Another process drives the run now, so a batch of the first one is rejected.
    let engine = world.engine.clone();
    let other = tokio::spawn(async move { engine.drain(&Attention::default()).await });
    until_called(&world, 2).await;
    let id = released[0].clone();
    world.engine.cancel(&id, "test").await.unwrap();
    let first = run.await.unwrap();
    let refused = matches!(&first, Err(Error::Store(deft_store::Error::Fenced { .. })));
    let second = other.await.unwrap();
    let ended = world.store.run(&id).await.unwrap().unwrap();
    assert_eq!(ended.outcome, Some(Outcome::Cancelled));
    assert!(refused, "{first:?} {second:?}");
    let ends = world.events(&ended).await;
    let ends = ends
        .iter()
        .filter(|event| event["type"] == "skill_cancelled");
    assert_eq!(ends.count(), 1);
}

#[tokio::test]
async fn a_forward_clock_jump_takes_no_run_from_a_living_process() {
    let world = World::new(&[("hangs.yaml", &hangs("overlap: allow", "once"))]);
    let run = start(&world);
    until_called(&world, 1).await;
    world.clock.set(at(86_400));
    assert_eq!(world.engine.recover().await.unwrap(), []);
    let row = with_status(&world, RunStatus::Running).await.remove(0);
    world.engine.cancel(&row.id, "test").await.unwrap();
    assert_eq!(
        run.await.unwrap().unwrap().outcome,
        Some(Outcome::Cancelled)
    );
}

/// Returns a run that a process which has exited had claimed.
async fn orphan(world: &World, owner: &str) -> RunRow {
    let owners = Options::for_home(world.home.path()).owners;
    std::fs::write(owners.join(format!("{owner}.lock")), "").unwrap();
    let admitted = world.engine.admit(fire("hangs", &json!({}))).await.unwrap();
    let claim = Claim {
        owner: owner.to_owned(),
        now: world.clock.now(),
        until: at(1_000_000),
        global_limit: None,
        only: Some(admitted.run().id.clone()),
    };
    world.store.claim(claim).await.unwrap().unwrap().run
}

#[tokio::test]
async fn freeing_the_runs_of_one_dead_process_takes_none_from_a_living_one() {
    let world = World::new(&[("hangs.yaml", &hangs("overlap: allow", "once"))]);
    let run = start(&world);
    until_called(&world, 1).await;
    let living = with_status(&world, RunStatus::Running).await.remove(0);
    let resumed = orphan(&world, "exited-1").await;
    let cancelled = orphan(&world, "exited-2").await;
    // The host was suspended for a day, so the lease of this process has expired.
    world.clock.set(at(86_400));

    world.engine.cancel(&cancelled.id, "test").await.unwrap();
    let ended = world.store.run(&cancelled.id).await.unwrap().unwrap();
    assert_eq!(ended.outcome, Some(Outcome::Cancelled));
    let row = world.store.run(&living.id).await.unwrap().unwrap();
    assert_eq!(row.owner, living.owner, "it is still driven here");

    world.clock.set(at(2 * 86_400));
    let engine = world.engine.clone();
    let again = tokio::spawn(async move {
        let with = ResumeWith::default();
        let done = engine.resume(&resumed, &with, Attention::default()).await;
        done.unwrap().run().clone()
    });
    while world.called().len() < 2 && !again.is_finished() {
        tokio::task::yield_now().await;
    }
    let row = world.store.run(&living.id).await.unwrap().unwrap();
    assert_eq!(row.owner, living.owner, "it is still driven here");
    for row in with_status(&world, RunStatus::Running).await {
        world.engine.cancel(&row.id, "test").await.unwrap();
    }
    let ends = [run.await.unwrap().unwrap(), again.await.unwrap()];
    assert_eq!(
        ends.map(|row| row.outcome),
        [Some(Outcome::Cancelled), Some(Outcome::Cancelled)]
    );
}

#[tokio::test]
async fn a_skill_has_a_separate_limit_of_concurrent_runs() {
    let skill = hangs("overlap: allow\nconcurrency: 2", "once");
    let other = "name: other\ndescription: d\nsteps:\n  - {id: one, tool: act}\n";
    let world = World::new(&[("hangs.yaml", &skill), ("other.yaml", other)]);
    let runs: Vec<_> = (0..3).map(|_| start(&world)).collect();
    until_called(&world, 2).await;
    while with_status(&world, RunStatus::Queued).await.is_empty() {
        tokio::task::yield_now().await;
    }
    let_tasks_run().await;
    assert_eq!(with_status(&world, RunStatus::Running).await.len(), 2);
    assert_eq!(world.called(), ["hang", "hang"]);
    let row = world.run("other", json!({})).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "others go on");

    let first = with_status(&world, RunStatus::Running).await.remove(0);
    world.engine.cancel(&first.id, "test").await.unwrap();
    let mut now = at(0);
    while world.called().len() < 4 {
        now = now.checked_add(Duration::from_millis(50)).unwrap();
        world.clock.set(now);
        tokio::task::yield_now().await;
    }
    assert_eq!(
        world.called().last().unwrap(),
        "hang",
        "the third has its turn"
    );
    for row in with_status(&world, RunStatus::Running).await {
        world.engine.cancel(&row.id, "test").await.unwrap();
    }
    for run in runs {
        assert_eq!(
            run.await.unwrap().unwrap().outcome,
            Some(Outcome::Cancelled)
        );
    }
}

#[tokio::test]
async fn a_backward_clock_jump_keeps_waits_and_deadlines() {
    let skill = "name: again\ndescription: d\ntimeout: 3600\nsteps:\n  - {id: attempt, tool: refuse, on_error: \"retry:1\"}\n";
    let world = World::with(Arc::new(Memory::new()), &[("again.yaml", skill)], |_| {});
    let engine = world.engine.clone();
    let run = tokio::spawn(async move {
        let run = engine.run(fire("again", &json!({})), Attention::default());
        run.await.unwrap().run().clone()
    });
    until_called(&world, 1).await;
    let_tasks_run().await;
    for back in [-7200, -3600, 0] {
        world.clock.set(at(back));
        let_tasks_run().await;
        assert_eq!(world.called(), ["refuse"], "not woken before its time");
    }
    world.clock.set(at(5));
    let row = run.await.unwrap();
    assert_eq!(world.called(), ["refuse", "refuse"]);
    assert_eq!(row.outcome, Some(Outcome::Error));
    let error: serde_json::Value = serde_json::from_str(&row.error.unwrap()).unwrap();
    assert_eq!(error["class"], "auth", "its time was not up");
}
