//! Rules about lists of runs and events.

use deft_model::{Outcome, RunStatus};

use jiff::SignedDuration;

use super::support::{admission, admit, append, at, events, first_claim, id, start, success};
use deft_store::{Admission, AdmissionResult, Batch, Prune, RunFilter, RunPage, Store};

async fn list(store: &dyn Store, filter: RunFilter) -> Vec<String> {
    let runs = store.runs(filter).await.unwrap();
    runs.into_iter().map(|run| run.id.to_string()).collect()
}

pub(super) async fn runs_are_listed_newest_first(store: &dyn Store) {
    for run in ["r2", "r1", "r3", "b3"] {
        admit(store, admission(run, "a")).await;
    }
    // Sorted by order of admission, not by the clock: by its clock `r1` is the oldest.
    let all = list(store, RunFilter::default()).await;
    assert_eq!(all, ["b3", "r3", "r1", "r2"]);
    let limit = Some(2);
    let some = list(
        store,
        RunFilter {
            limit,
            ..RunFilter::default()
        },
    )
    .await;
    assert_eq!(some, ["b3", "r3"]);
}

/// Pages of two return the same as one list, even if the last run of a page is deleted.
pub(super) async fn runs_are_read_in_pages(store: &dyn Store) {
    for n in 0..5 {
        let skill = if n == 2 { "b" } else { "a" };
        let lease = start(store, &format!("r{n}"), skill).await;
        append(store, &lease, success(n)).await;
    }
    let filter = RunFilter {
        skill: Some("a".to_owned()),
        limit: Some(2),
        ..RunFilter::default()
    };
    assert_eq!(store.count_runs(filter.clone()).await.unwrap(), 4);
    let page = async |after| store.run_page(filter.clone(), after).await.unwrap();
    let names = |page: &RunPage| -> Vec<String> {
        page.runs.iter().map(|run| run.id.to_string()).collect()
    };
    let first = page(None).await;
    assert_eq!(names(&first), ["r4", "r3"]);
    let second = page(first.end).await;
    assert_eq!(names(&second), ["r1", "r0"]);
    assert_eq!(page(second.end).await, RunPage::default());
    let old = Prune {
        before: at(4),
        now: at(9),
        limit: 100,
        only_count: false,
    };
    store.prune(old).await.unwrap();
    assert_eq!(page(first.end).await, RunPage::default());
    assert_eq!(names(&page(None).await), ["r4"]);
}

pub(super) async fn late_runs_are_counted_while_they_run(store: &dyn Store) {
    let count = async || {
        let late = SignedDuration::from_secs(90);
        store.late_running(late).await.unwrap()
    };
    let mut leases = Vec::new();
    // Admitted 91, 90 and 1 seconds after their slots, and one run without a slot.
    for (run, slot) in [
        ("r191", Some(100)),
        ("r291", Some(201)),
        ("r301", Some(300)),
        ("r400", None),
    ] {
        let admitted = store.admit(Admission {
            slot: slot.map(at),
            claim: Some(first_claim(Batch::default())),
            ..admission(run, run)
        });
        let AdmissionResult::New { lease, .. } = admitted.await.unwrap() else {
            panic!("{run} was there");
        };
        leases.push(lease.unwrap());
    }
    // A run without a driver delays no other run.
    let slot = Some(at(1));
    admit(
        store,
        Admission {
            slot,
            ..admission("r500", "b")
        },
    )
    .await;
    assert_eq!(count().await, 1);
    append(store, &leases[0], success(600)).await;
    assert_eq!(count().await, 0);
}

pub(super) async fn filters_narrow_the_list(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, success(5)).await;
    for (run, skill) in [("r2", "a"), ("r12", "b"), ("b4", "b")] {
        admit(store, admission(run, skill)).await;
    }
    store.cancel(&id("r2"), "ann", at(9)).await.unwrap();
    let any = RunFilter::default;
    let skill = Some("b".to_owned());
    assert_eq!(
        list(store, RunFilter { skill, ..any() }).await,
        ["b4", "r12"]
    );
    let not_skill = Some("b".to_owned());
    let others = RunFilter { not_skill, ..any() };
    assert_eq!(list(store, others).await, ["r2", "r1"]);
    let statuses = vec![RunStatus::Queued, RunStatus::Waiting];
    assert_eq!(
        list(store, RunFilter { statuses, ..any() }).await,
        ["b4", "r12"]
    );
    let outcomes = vec![Outcome::Success, Outcome::Cancelled];
    assert_eq!(
        list(store, RunFilter { outcomes, ..any() }).await,
        ["r2", "r1"]
    );
    let id_prefix = Some("r1".to_owned());
    assert_eq!(
        list(store, RunFilter { id_prefix, ..any() }).await,
        ["r12", "r1"]
    );
    let since = Some(at(4));
    assert_eq!(
        list(store, RunFilter { since, ..any() }).await,
        ["b4", "r12"]
    );
    let both = RunFilter {
        skill: Some("a".to_owned()),
        outcomes: vec![Outcome::Success],
        since: Some(at(1)),
        ..any()
    };
    assert_eq!(list(store, both).await, ["r1"]);
    let percent = Some("r%".to_owned());
    let none = RunFilter {
        id_prefix: percent,
        ..any()
    };
    assert_eq!(list(store, none).await, Vec::<String>::new());
}

pub(super) async fn events_are_read_in_pages(store: &dyn Store) {
    let one = start(store, "r1", "a").await;
    let two = start(store, "r2", "a").await;
    for lease in [&one, &two, &one] {
        append(store, lease, events(&["a", "b"])).await;
    }
    let all = store.events(None, 0, 100).await.unwrap();
    assert_eq!(all.len(), 6);
    assert!(all.is_sorted_by(|a, b| a.seq < b.seq));
    let page = store.events(None, all[1].seq, 3).await.unwrap();
    assert_eq!(page, all[2..5]);
    let own = store
        .events(Some(&id("r1")), all[1].seq, 100)
        .await
        .unwrap();
    assert_eq!(own, all[4..6]);
    let own = store.events(Some(&id("r2")), 0, 1).await.unwrap();
    assert_eq!(own, all[2..3]);
    assert_eq!(store.events(None, all[5].seq, 9).await.unwrap(), []);
    assert_eq!(store.events(Some(&id("r9")), 0, 9).await.unwrap(), []);
}

pub(super) async fn paused_runs_are_distinguished(store: &dyn Store) {
    for (run, kind) in ["ended", "asked", "recovered", "resumed"]
        .iter()
        .enumerate()
    {
        let lease = start(store, &format!("r{run}"), "a").await;
        append(store, &lease, events(&[kind, "ended"])).await;
    }
    let all = ["r0", "r3", "r1", "r9", "r2"].map(id).to_vec();
    let paused = store.paused_runs(all).await.unwrap();
    assert_eq!(paused, ["r3", "r1", "r2"].map(id));
}

pub(super) async fn outcomes_and_revisions_are_counted(store: &dyn Store) {
    for (run, skill) in [("r1", "a"), ("r2", "a"), ("r3", "b")] {
        let lease = start(store, run, skill).await;
        append(store, &lease, success(1)).await;
    }
    let newer = Admission {
        revision: "newer".to_owned(),
        ..admission("r4", "a")
    };
    let newer_at = newer.at;
    admit(store, newer).await;
    let counts = store.outcomes(at(0)).await.unwrap();
    let runs = |skill: &str, outcome: Option<Outcome>| -> u64 {
        let of = counts
            .iter()
            .filter(|one| one.skill == skill && one.outcome == outcome);
        of.map(|one| one.runs).sum()
    };
    assert_eq!(runs("a", Some(Outcome::Success)), 2, "{counts:?}");
    assert_eq!((runs("a", None), runs("b", Some(Outcome::Success))), (1, 1));
    let used = store.used_revisions("a").await.unwrap();
    let found: Vec<(&str, u64)> = used
        .iter()
        .map(|one| (one.revision.as_str(), one.runs))
        .collect();
    assert_eq!((found[0], found[1].1), (("newer", 1), 2), "{used:?}");
    assert_eq!((used[0].first, used[0].last), (newer_at, newer_at));
    assert_eq!(store.used_revisions("c").await.unwrap(), []);
}
