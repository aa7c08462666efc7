//! A store that is locked or full in the middle of a run: nothing recorded is lost, nothing done is repeated,
//! and the run continues when it can.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deft_engine::{AnswerReceipt, Attention, Clock, Error};
use deft_model::{Effects, Outcome, RunStatus};
use deft_store::{RunFilter, RunRow, Sqlite, SqliteOptions, Store};
use deft_tools::Definition;
use deft_wire::run::StepStatus;
use deft_workflow::Answer;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use crate::world::{Folder, World, fire, load};

/// A run whose last call and whose end are stored together.
const ONE_STEP: &str = "name: work\ndescription: d\nsteps:\n  - {id: only, tool: TOOL}\n";

const SKILL: &str = "name: work\ndescription: d\nsteps:\n  - {id: first, tool: act}\n  - {id: second, tool: TOOL}\n  - {id: third, tool: act}\n";

fn options_without_waiting(max_pages: Option<u32>) -> SqliteOptions {
    SqliteOptions {
        busy_timeout: Duration::ZERO,
        max_pages,
        ..SqliteOptions::default()
    }
}

fn world(home: TempDir, tool: &str, max_pages: Option<u32>) -> World {
    world_of(home, SKILL, tool, max_pages)
}

fn world_of(home: TempDir, skill: &str, tool: &str, max_pages: Option<u32>) -> World {
    let skill = skill.replace("TOOL", tool);
    let folder = Folder(Arc::new(Mutex::new(load(&home, &[("work.yaml", &skill)]))));
    let store = Sqlite::open(
        &home.path().join("deft.db"),
        &options_without_waiting(max_pages),
    )
    .unwrap();
    World::at(home, folder, Arc::new(store), |_| {})
}

/// A lock on the database that a tool takes and the test releases.
type Lock = Arc<Mutex<Option<Connection>>>;

fn install_lock(world: &World, effects: Effects) -> Lock {
    let lock = Lock::default();
    let (held, calls) = (Arc::clone(&lock), Arc::clone(&world.calls));
    let path = world.home.path().join("deft.db");
    let definition = Definition::new("lock", "for tests", effects, json!({ "type": "object" }));
    world
        .engine
        .router()
        .register_fn(definition, move |args, _| {
            calls.lock().unwrap().push(("lock".to_owned(), args));
            let mut held = held.lock().unwrap();
            // The second call does its work without locking the database.
            if calls
                .lock()
                .unwrap()
                .iter()
                .filter(|(tool, _)| tool == "lock")
                .count()
                == 1
            {
                *held = Some(locked(&path));
            }
            async { Ok(json!("done")) }
        });
    lock
}

fn locked(path: &Path) -> Connection {
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    other
}

fn start(world: &World) -> tokio::task::JoinHandle<Result<RunRow, Error>> {
    let engine = world.engine.clone();
    tokio::spawn(async move {
        let run = engine.run(fire("work", &json!({})), Attention::default());
        run.await.map(|admitted| admitted.run().clone())
    })
}

async fn until_called(world: &World, tool: &str) {
    while !world.called().iter().any(|called| called == tool) {
        tokio::task::yield_now().await;
    }
}

/// Moves the clock repeatedly until a task is finished.
async fn tick<T>(world: &World, task: tokio::task::JoinHandle<T>) -> T {
    let mut now: jiff::Timestamp = "2026-01-26T13:00:00Z".parse().unwrap();
    while !task.is_finished() {
        now = now.checked_add(Duration::from_secs(1)).unwrap();
        world.clock.set(now);
        tokio::task::yield_now().await;
    }
    task.await.unwrap()
}

async fn only(store: &dyn Store) -> RunRow {
    let mut runs = store.runs(RunFilter::default()).await.unwrap();
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// Returns the attempts and the status of each step, from the journal.
async fn record(world: &World, run: &RunRow) -> Vec<(String, u32, StepStatus)> {
    let shown = world.engine.show(run).await.unwrap();
    let steps = shown.steps.into_iter();
    steps
        .map(|step| (step.id, step.attempts, step.status))
        .collect()
}

fn steps(expected: [(&str, u32, StepStatus); 3]) -> Vec<(String, u32, StepStatus)> {
    let own = |(id, attempts, status): (&str, u32, StepStatus)| (id.to_owned(), attempts, status);
    expected.map(own).to_vec()
}

#[tokio::test]
async fn a_temporary_lock_only_delays_a_run() {
    for (skill, called) in [
        (SKILL, vec!["act", "lock", "act"]),
        (ONE_STEP, vec!["lock"]),
    ] {
        let world = world_of(tempfile::tempdir().unwrap(), skill, "lock", None);
        let lock = install_lock(&world, Effects::Once);
        let run = start(&world);
        until_called(&world, "lock").await;
        let mut now: jiff::Timestamp = "2026-01-26T13:00:00Z".parse().unwrap();
        for _ in 0..2 {
            now = now.checked_add(Duration::from_secs(1)).unwrap();
            world.clock.set(now);
            tokio::task::yield_now().await;
        }
        drop(lock.lock().unwrap().take());
        let row = tick(&world, run).await.unwrap();
        assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
        assert_eq!(world.called(), called);
    }
}

#[tokio::test]
async fn a_run_continues_in_this_process_after_a_long_lock() {
    for (effects, outcome, called) in [
        (
            Effects::Idempotent,
            Outcome::Success,
            vec!["act", "lock", "lock", "act"],
        ),
        // It was called, and its result is unknown.
        (Effects::Once, Outcome::Interrupted, vec!["act", "lock"]),
    ] {
        let world = world(tempfile::tempdir().unwrap(), "lock", None);
        let lock = install_lock(&world, effects);
        let run = start(&world);
        let failed = tick(&world, run).await.unwrap_err();
        assert!(
            matches!(failed, Error::Store(deft_store::Error::Locked { .. })),
            "{failed}"
        );
        let row = only(&*world.store).await;
        assert_eq!(row.status, RunStatus::Running, "nobody could say otherwise");
        drop(lock.lock().unwrap().take());
        let driven = world.engine.drain(&Attention::default()).await.unwrap();
        assert_eq!(driven, [row.id]);
        let row = only(&*world.store).await;
        assert_eq!(row.outcome, Some(outcome), "{:?}", row.error);
        assert_eq!(world.called(), called);
    }
}

#[tokio::test]
async fn a_full_disk_during_a_run_loses_no_event() {
    let home = tempfile::tempdir().unwrap();
    let first = world(home, "half", Some(120));
    install_half(&first);
    let run = start(&first);
    let failed = tick(&first, run).await.unwrap_err();
    assert!(
        matches!(failed, Error::Store(deft_store::Error::Full { .. })),
        "{failed}"
    );
    assert_eq!(first.called(), ["act", "half"]);
    let row = only(&*first.store).await;
    let expected = steps([
        ("first", 1, StepStatus::Success),
        ("second", 1, StepStatus::Running),
        ("third", 0, StepStatus::Pending),
    ]);
    assert_eq!(record(&first, &row).await, expected);
    let late = first.clock.now();
    let World {
        home,
        engine,
        store,
        ..
    } = first;
    drop((engine, store));

    // The disk has space again, and another process resumes the run.
    let next = world(home, "half", None);
    install_half(&next);
    next.clock.set(late);
    next.engine.recover().await.unwrap();
    next.engine.drain(&Attention::default()).await.unwrap();
    let row = only(&*next.store).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    assert_eq!(
        next.called(),
        ["half", "act"],
        "the first step is not repeated"
    );
    let expected = steps([
        ("first", 1, StepStatus::Success),
        ("second", 2, StepStatus::Success),
        ("third", 1, StepStatus::Success),
    ]);
    assert_eq!(record(&next, &row).await, expected);
}

/// Installs a tool without harmful effects whose result has half a megabyte.
fn install_half(world: &World) {
    let calls = Arc::clone(&world.calls);
    let schema = json!({ "type": "object" });
    let definition = Definition::new("half", "for tests", Effects::Idempotent, schema);
    world
        .engine
        .router()
        .register_fn(definition, move |args, _| {
            calls.lock().unwrap().push(("half".to_owned(), args));
            async { Ok(json!("x".repeat(512 << 10))) }
        });
}

/// Installs a tool that changes the database with `sql`.
fn install_sql(world: &World, name: &'static str, sql: &'static str) {
    let calls = Arc::clone(&world.calls);
    let path = world.home.path().join("deft.db");
    let schema = json!({ "type": "object" });
    let definition = Definition::new(name, "for tests", Effects::Idempotent, schema);
    world
        .engine
        .router()
        .register_fn(definition, move |args, _| {
            calls.lock().unwrap().push((name.to_owned(), args));
            execute(&path, sql);
            async { Ok(json!("done")) }
        });
}

fn execute(path: &Path, sql: &str) {
    let other = Connection::open(path).unwrap();
    other.busy_timeout(Duration::from_secs(10)).unwrap();
    other.execute_batch(sql).unwrap();
}

const NO_EVENTS: &str = "CREATE TRIGGER IF NOT EXISTS no_events BEFORE INSERT ON event \
    BEGIN SELECT raise(ABORT, 'no more events'); END;";

const NO_WRITES: &str = "CREATE TRIGGER IF NOT EXISTS no_events BEFORE INSERT ON event \
    BEGIN SELECT raise(ABORT, 'no more events'); END; \
    CREATE TRIGGER no_runs BEFORE UPDATE ON run \
    BEGIN SELECT raise(ABORT, 'no more changes'); END;";

#[tokio::test]
async fn a_run_whose_results_cannot_be_stored_ends_as_interrupted() {
    for queued in [false, true] {
        let world = world(tempfile::tempdir().unwrap(), "spoil", None);
        install_sql(&world, "spoil", NO_EVENTS);
        if queued {
            let admitted = world.engine.admit(fire("work", &json!({}))).await;
            let id = admitted.unwrap().run().id.clone();
            let driven = world.engine.drain(&Attention::default()).await.unwrap();
            assert_eq!(driven, [id]);
        } else {
            let run = world.run("work", json!({})).await;
            assert_eq!(run.status, RunStatus::Done);
        }
        let row = only(&*world.store).await;
        assert_eq!(row.outcome, Some(Outcome::Interrupted));
        let error = row.error.unwrap_or_default();
        assert!(error.contains("no more events"), "{error}");
        assert_eq!(world.called(), ["act", "spoil"]);
    }
}

#[tokio::test]
async fn a_run_whose_end_cannot_be_stored_either_continues_later() {
    let world = world(tempfile::tempdir().unwrap(), "spoil", None);
    install_sql(&world, "spoil", NO_WRITES);
    let failed = start(&world).await.unwrap().unwrap_err();
    assert!(failed.to_string().contains("no more events"), "{failed}");
    let row = only(&*world.store).await;
    assert_eq!(row.status, RunStatus::Running, "its end is not stored");
    let path = world.home.path().join("deft.db");
    execute(&path, "DROP TRIGGER no_events; DROP TRIGGER no_runs;");
    install_sql(&world, "spoil", "SELECT 1");
    let driven = world.engine.drain(&Attention::default()).await.unwrap();
    assert_eq!(driven, [row.id]);
    let row = only(&*world.store).await;
    assert_eq!(row.outcome, Some(Outcome::Success), "{:?}", row.error);
    assert_eq!(world.called(), ["act", "spoil", "spoil", "act"]);
}

#[tokio::test]
async fn an_answer_is_not_stored_without_its_standing_approval() {
    let skill = "name: asks\ndescription: d\nsteps:\n  - {id: danger, tool: act}\nconfirmations:\n  - {step: danger, message: Really?}\n";
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("deft.db");
    let folder = Folder(Arc::new(Mutex::new(load(&home, &[("asks.yaml", skill)]))));
    let store = Sqlite::open(&path, &options_without_waiting(None)).unwrap();
    let world = World::at(home, folder, Arc::new(store), |_| {});
    world.run("asks", json!({})).await;
    let asked = world.store.approvals(false).await.unwrap().remove(0);
    execute(
        &path,
        "CREATE TRIGGER no_grants BEFORE INSERT ON grant_ \
         BEGIN SELECT raise(ABORT, 'no more grants'); END;",
    );
    let answered = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    let failed = answered.unwrap_err();
    assert!(failed.to_string().contains("no more grants"), "{failed}");
    let open = world.store.approvals(false).await.unwrap().remove(0);
    assert_eq!(open, asked);
    execute(&path, "DROP TRIGGER no_grants");
    let answered = world.engine.answer(&asked, Answer::Yes, "ada", true).await;
    assert!(matches!(answered.unwrap(), AnswerReceipt::Accepted(_)));
    assert_eq!(world.store.all_grants().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_that_waits_for_its_turn_only_reads() {
    let skill = "name: work\ndescription: d\noverlap: queue\nsteps:\n  - {id: wait, tool: hang}\n";
    let world = world_of(tempfile::tempdir().unwrap(), skill, "", None);
    let first = start(&world);
    until_called(&world, "hang").await;
    let second = start(&world);
    let runs = async || world.store.runs(RunFilter::default()).await.unwrap();
    while runs().await.len() < 2 {
        tokio::task::yield_now().await;
    }
    let mut now: jiff::Timestamp = "2026-01-26T13:00:00Z".parse().unwrap();
    let mut lock = None;
    for round in 0..40 {
        // Before the lock the run claims once, and again if it has seen an older version of the store.
        if round == 20 {
            lock = Some(locked(&world.home.path().join("deft.db")));
        }
        now = now.checked_add(Duration::from_millis(50)).unwrap();
        world.clock.set(now);
        assert_eq!(runs().await.len(), 2);
    }
    assert!(!second.is_finished(), "a claim would fail");
    drop(lock);
    let rows = runs().await;
    let running = |row: &&RunRow| row.status == RunStatus::Running;
    let row = rows.iter().find(running).unwrap();
    world.engine.cancel(&row.id, "test").await.unwrap();
    let row = first.await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(Outcome::Cancelled));
    while world.called().len() < 2 {
        tokio::task::yield_now().await;
    }
    let queued = runs().await.into_iter().find(|other| other.id != row.id);
    world
        .engine
        .cancel(&queued.unwrap().id, "test")
        .await
        .unwrap();
    let row = second.await.unwrap().unwrap();
    assert_eq!(row.outcome, Some(Outcome::Cancelled));
}
