//! Rules about deleting old rows.

use super::support::{
    admission, admit, append, ask, at, decision, event, events, first_claim, id, next, park, row,
    start, success,
};
use deft_store::{
    Admission, AdmissionResult, Batch, DecisionResult, Prune, PruneResult, RunFilter, RunRow,
    Store, Write,
};

fn prune_before(before: i64) -> Prune {
    Prune {
        before: at(before),
        now: at(before),
        limit: 100,
        only_count: false,
    }
}

async fn names(store: &dyn Store) -> Vec<String> {
    let runs = store.runs(RunFilter::default()).await.unwrap();
    runs.into_iter().map(|row| row.id.to_string()).collect()
}

/// Admits a run that ends with its first batch.
async fn finish_run(store: &dyn Store, run: Admission, second: i64) {
    let run = Admission {
        claim: Some(first_claim(success(second))),
        ..run
    };
    admit(store, run).await;
}

pub(super) async fn only_old_finished_runs_are_pruned(store: &dyn Store) {
    finish_run(store, admission("r1", "a"), 10).await;
    finish_run(store, admission("r2", "a"), 20).await;
    let waits = start(store, "r3", "a").await;
    append(store, &waits, park(None)).await;
    start(store, "r4", "a").await;
    admit(store, admission("r5", "b")).await;
    let pruned = store.prune(prune_before(20)).await.unwrap();
    assert_eq!(pruned.runs, [id("r1")]);
    assert_eq!(names(store).await, ["r5", "r4", "r3", "r2"]);
    let pruned = store.prune(prune_before(900)).await.unwrap();
    assert_eq!(pruned.runs, [id("r2")]);
    // A reopened run is not finished.
    finish_run(store, admission("r6", "c"), 10).await;
    store.reopen(&id("r6"), event("again")).await.unwrap();
    assert_eq!(
        store.prune(prune_before(900)).await.unwrap(),
        PruneResult::default()
    );
    assert_eq!(next(store, 900).await.as_deref(), Some("r5"));
}

pub(super) async fn everything_of_a_run_goes_with_it(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, events(&["one", "two"])).await;
    append(store, &lease, ask("p1", success(9))).await;
    let kept = start(store, "r2", "a").await;
    append(store, &kept, events(&["three"])).await;
    let pruned = store.prune(prune_before(10)).await.unwrap();
    let wanted = PruneResult {
        runs: vec![id("r1")],
        events: 2,
        results: 0,
    };
    assert_eq!(pruned, wanted);
    assert_eq!(store.run(&id("r1")).await.unwrap(), None);
    assert_eq!(store.events(Some(&id("r1")), 0, 9).await.unwrap(), []);
    assert_eq!(store.approvals(true).await.unwrap(), []);
    let answer = store.decide("p1", decision("ann", 30)).await.unwrap();
    assert_eq!(answer, DecisionResult::Unknown);
    let left = store.events(None, 0, 9).await.unwrap();
    let left: Vec<(u64, &str)> = left.iter().map(|e| (e.seq, e.kind.as_str())).collect();
    assert_eq!(left, [(3, "three")]);
    // Sequence numbers of events are never reused.
    let appended = append(store, &kept, events(&["four"])).await;
    assert_eq!(appended.first_seq, 4);
    assert_eq!(store.newest_event().await.unwrap(), 4);
}

pub(super) async fn keys_and_slots_stay_taken(store: &dyn Store) {
    let keyed = |run: &str| Admission {
        key: Some("k".to_owned()),
        ..admission(run, "a")
    };
    let slotted = |run: &str| Admission {
        slot: Some(at(5)),
        ..admission(run, "a")
    };
    finish_run(store, keyed("r1"), 6).await;
    finish_run(store, slotted("r2"), 7).await;
    finish_run(store, admission("r3", "a"), 8).await;
    let left = |row: RunRow| RunRow {
        outputs: None,
        ..row
    };
    let first = left(row(store, "r1").await);
    let second = left(row(store, "r2").await);
    assert_eq!(store.prune(prune_before(10)).await.unwrap().runs.len(), 3);
    assert_eq!(names(store).await, Vec::<String>::new());
    let answer = store.admit(keyed("r4")).await.unwrap();
    assert_eq!(answer, AdmissionResult::Existing(first));
    let answer = store.admit(slotted("r5")).await.unwrap();
    assert_eq!(answer, AdmissionResult::Existing(second));
    let other = Admission {
        skill: "b".to_owned(),
        ..slotted("r6")
    };
    admit(store, other).await;
    assert_eq!(names(store).await, ["r6"]);
}

pub(super) async fn pruning_works_in_batches_and_can_only_count(store: &dyn Store) {
    for n in 1..=5 {
        finish_run(store, admission(&format!("r{n}"), "a"), n).await;
    }
    let counted = store.prune(Prune {
        limit: 2,
        only_count: true,
        ..prune_before(100)
    });
    assert_eq!(counted.await.unwrap().runs.len(), 5);
    assert_eq!(names(store).await.len(), 5);
    for wanted in [2, 2, 1, 0] {
        let piece = store.prune(Prune {
            limit: 2,
            ..prune_before(100)
        });
        assert_eq!(piece.await.unwrap().runs.len(), wanted);
    }
}

pub(super) async fn only_the_listed_runs_are_pruned(store: &dyn Store) {
    for run in ["r1", "r2", "r3"] {
        finish_run(store, admission(run, "a"), 10).await;
    }
    store.reopen(&id("r2"), event("again")).await.unwrap();
    let waits = start(store, "r4", "b").await;
    append(store, &waits, events(&["one"])).await;
    let list = ["r4", "r3", "r2", "unknown"].map(id).to_vec();
    let pruned = store.prune_runs(list.clone()).await.unwrap();
    assert_eq!(pruned.runs, [id("r3")]);
    assert_eq!(names(store).await, ["r4", "r2", "r1"]);
    let again = store.prune_runs(list).await.unwrap();
    assert_eq!(again, PruneResult::default());
}

pub(super) async fn old_results_are_deleted(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let result = |key: &str, expires| Write::Cache {
        key: key.to_owned(),
        value: "1".to_owned(),
        at: at(1),
        expires_at: at(expires),
    };
    let batch = Batch {
        writes: vec![result("k", 10), result("l", 11)],
        ..Batch::default()
    };
    append(store, &lease, batch).await;
    let counted = store.prune(Prune {
        only_count: true,
        ..prune_before(10)
    });
    assert_eq!(counted.await.unwrap().results, 1);
    assert_eq!(store.prune(prune_before(10)).await.unwrap().results, 1);
    assert_eq!(store.prune(prune_before(10)).await.unwrap().results, 0);
    let kept = store.read_cached("l", at(10)).await.unwrap();
    assert_eq!(kept.as_deref(), Some("1"));
}
