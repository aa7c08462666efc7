//! Many agents on one budget: however many ask at once, they spend no more than the budget and the calls in
//! flight.

use std::sync::Arc;

use deft_engine::Clock;
use deft_model::{ExhaustedAction, Outcome, Usage};
use deft_store::{RunFilter, SpentFilter, Sqlite, SqliteOptions, Store};
use deft_store_testkit::Memory;
use deft_workflow::Event;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::thinker::{USAGE, call_reply, place, text_reply, thinker};
use crate::world::{Folder, World, load};

const RUNS: u64 = 20;

/// Less than half of what the runs would use.
const LIMIT: u64 = 10_000;

const LOOKS: &str = "\
name: looks
description: d
inputs:
  - {name: turns, type: integer, required: true}
steps:
  - {id: mind, agent: \"{{ inputs.turns }}\", tools: [echo]}
";

fn world(store: Arc<dyn Store>) -> World {
    let (models, _) = thinker(|request, nth| {
        let (turns, answered) = place(request);
        if answered < turns.parse::<usize>().unwrap() {
            return Ok(call_reply(&[("echo", json!({ "nth": nth }))]));
        }
        Ok(text_reply("enough"))
    });
    let home = tempfile::tempdir().unwrap();
    let loaded = load(&home, &[("looks.yaml", LOOKS)]);
    let folder = Folder(Arc::new(std::sync::Mutex::new(loaded)));
    let parts = (deft_tools::Options::default(), models);
    World::from_parts(home, folder, store, parts, |options| {
        options.agent.budgets.all.tokens = Some(LIMIT);
        options.agent.budgets.all.on_exhausted = ExhaustedAction::Skip;
    })
}

/// Runs agents in all worlds at once, and compares their results with the ledger.
async fn race(worlds: Vec<World>) {
    let worlds: Vec<Arc<World>> = worlds.into_iter().map(Arc::new).collect();
    let mut racing = JoinSet::new();
    for nth in 0..RUNS {
        let world = Arc::clone(&worlds[usize::try_from(nth).unwrap() % worlds.len()]);
        racing.spawn(async move { world.run("looks", json!({ "turns": nth % 5 })).await });
    }
    let rows = racing.join_all().await;
    let (mut through, mut refused) = (0, 0);
    let mut used = Usage::default();
    for row in &rows {
        let usage: Option<Usage> = row
            .usage
            .as_deref()
            .map(|it| serde_json::from_str(it).unwrap());
        match (row.outcome, usage) {
            (Some(Outcome::Success), Some(_)) => through += 1,
            // In the middle of the run, or before it did anything.
            (Some(Outcome::Error), Some(_)) | (Some(Outcome::Skipped), None) => {
                let error: Value = serde_json::from_str(row.error.as_deref().unwrap()).unwrap();
                assert_eq!(error["class"], "budget", "{row:?}");
                refused += 1;
            }
            other => panic!("{other:?}: {row:?}"),
        }
        let usage = usage.unwrap_or_default();
        used.input_tokens += usage.input_tokens;
        used.output_tokens += usage.output_tokens;
        used.cost_usd += usage.cost_usd;
        used.llm_calls += usage.llm_calls;
    }
    assert!(
        through > 0 && refused > 0,
        "{through} of {RUNS} got through"
    );
    let store = &worlds[0].store;
    let known = store.runs(RunFilter::default()).await.unwrap();
    assert_eq!(known.len() as u64, RUNS);
    let replies = replies(store).await;
    let spent = store.list_spent(SpentFilter::default()).await.unwrap();
    for row in &spent {
        assert_eq!(
            (row.reserved_tokens, row.reserved_micros),
            (0, 0),
            "{row:?}"
        );
    }
    let all = spent.iter().find(|row| row.scope.starts_with("all@"));
    let all = all.unwrap();
    assert_eq!(all.usage(), used, "rows say what the ledger says");
    let total = all.tokens_in + all.tokens_out;
    assert_eq!((total, all.calls), (replies * USAGE.total(), replies));
    assert!(total <= LIMIT + RUNS * USAGE.total(), "{total} were spent");
    assert!(
        total * 2 > LIMIT,
        "{total} of {LIMIT}: most was left unused"
    );
}

/// Returns the number of model answers in the journals.
async fn replies(store: &Arc<dyn Store>) -> u64 {
    let events = store.events(None, 0, u32::MAX).await.unwrap();
    let replied = events.iter().filter(|stored| {
        let event: Event = serde_json::from_str(&stored.body).unwrap();
        matches!(event, Event::Agent { event, .. }
            if matches!(event.what, deft_agent::EventKind::Replied { .. }))
    });
    replied.count() as u64
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_agents_share_a_budget_in_memory() {
    race(vec![world(Arc::new(Memory::new()))]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_agents_share_a_budget_through_two_connections() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deft.db");
    let open = || Arc::new(Sqlite::open(&path, &SqliteOptions::default()).unwrap());
    race(vec![world(open()), world(open())]).await;
}

#[tokio::test]
async fn old_spending_is_deleted_with_old_runs() {
    let world = world(Arc::new(Memory::new()));
    world.run("looks", json!({ "turns": 0 })).await;
    let days = |days: i64| world.clock.now() + jiff::SignedDuration::from_hours(24 * days);
    let kept = |world: &World| {
        let store = Arc::clone(&world.store);
        async move {
            store
                .list_spent(SpentFilter::default())
                .await
                .unwrap()
                .len()
        }
    };
    let scopes = kept(&world).await;
    assert!(scopes > 0);
    for (passed, left) in [(89, scopes), (2, 0)] {
        world.clock.set(days(passed));
        world.engine.prune(world.clock.now(), false).await.unwrap();
        assert_eq!(kept(&world).await, left);
    }
}
