//! Rules about keys, slots, overlap, and leases taken on admission.

use deft_model::{Outcome, Overlap, RunStatus};

use super::support::{
    admission, admit, append, at, claim, event, events, first_claim, id, next,
    overlapping_admission, park, row, start, success, together,
};
use deft_store::{Admission, AdmissionResult, Batch, Error, Store};

fn keyed_admission(run: &str) -> Admission {
    Admission {
        key: Some("k".to_owned()),
        ..admission(run, "a")
    }
}

pub(super) async fn a_key_belongs_to_one_run_permanently(store: &dyn Store) {
    let first = admit(store, keyed_admission("r1")).await;
    let again = store.admit(keyed_admission("r2")).await.unwrap();
    assert_eq!(again, AdmissionResult::Existing(first));
    let lease = claim(store, 10).await.unwrap().lease;
    append(store, &lease, success(11)).await;
    let again = store.admit(keyed_admission("r3")).await.unwrap();
    assert_eq!(again, AdmissionResult::Existing(row(store, "r1").await));
    assert_eq!(store.run(&id("r3")).await.unwrap(), None);
}

pub(super) async fn fifty_at_once_are_one_run(store: &dyn Store) {
    let all = (0..50).map(|n| store.admit(keyed_admission(&format!("r{n}"))));
    let answers = together(all.collect()).await;
    let is_new = |answer: &&Result<AdmissionResult, Error>| {
        matches!(answer, Ok(AdmissionResult::New { .. }))
    };
    assert_eq!(answers.iter().filter(is_new).count(), 1);
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(
        store
            .runs(deft_store::RunFilter::default())
            .await
            .unwrap()
            .len(),
        1
    );
}

pub(super) async fn a_slot_is_one_run_of_its_skill(store: &dyn Store) {
    let slot = |run, skill, second| Admission {
        slot: Some(at(second)),
        ..admission(run, skill)
    };
    let first = admit(store, slot("r1", "a", 60)).await;
    assert_eq!(first.slot, Some(at(60)));
    let again = store.admit(slot("r2", "a", 60)).await.unwrap();
    assert_eq!(again, AdmissionResult::Existing(first));
    admit(store, slot("r3", "a", 61)).await;
    admit(store, slot("r4", "b", 60)).await;
}

pub(super) async fn a_taken_id_is_refused(store: &dyn Store) {
    admit(store, admission("r1", "a")).await;
    let again = store.admit(admission("r1", "b")).await.unwrap_err();
    let (what, id) = ("a run", "r1".to_owned());
    assert_eq!(again, Error::Taken { what, id });
    assert_eq!(row(store, "r1").await.skill, "a");
}

pub(super) async fn skip_ends_the_new_run(store: &dyn Store) {
    admit(store, overlapping_admission("r1", "a", Overlap::Skip)).await;
    let mut second = overlapping_admission("r2", "a", Overlap::Skip);
    second.claim = Some(first_claim(events(&["started"])));
    let AdmissionResult::New { run, lease, .. } = store.admit(second).await.unwrap() else {
        panic!("r2 was there");
    };
    assert_eq!(lease, None);
    assert_eq!(
        (run.status, run.outcome),
        (RunStatus::Done, Some(Outcome::Skipped))
    );
    let error = r#"{"class":"other","message":"run `r1` of this skill is still active"}"#;
    assert_eq!(run.error.as_deref(), Some(error));
    assert_eq!((run.finished_at, run.finish_ordinal), (Some(at(2)), 1));
    assert_eq!(run, row(store, "r2").await);
    // Runs of other skills and finished runs do not count.
    admit(store, overlapping_admission("r3", "b", Overlap::Skip)).await;
    let lease = claim(store, 10).await.unwrap().lease;
    append(store, &lease, park(None)).await;
    let waiting = admit(store, overlapping_admission("r4", "a", Overlap::Skip)).await;
    assert_eq!(waiting.outcome, Some(Outcome::Skipped));
    store.cancel(&id("r1"), "me", at(20)).await.unwrap();
    let free = admit(store, overlapping_admission("r5", "a", Overlap::Skip)).await;
    assert_eq!(free.status, RunStatus::Queued);
}

pub(super) async fn queue_waits_its_turn(store: &dyn Store) {
    let first = start(store, "r1", "a").await;
    admit(store, overlapping_admission("r2", "a", Overlap::Queue)).await;
    admit(store, overlapping_admission("r3", "a", Overlap::Queue)).await;
    admit(store, overlapping_admission("r4", "b", Overlap::Queue)).await;
    assert_eq!(next(store, 10).await.as_deref(), Some("r4"));
    assert_eq!(next(store, 10).await, None);
    // A parked run still blocks the others.
    append(store, &first, park(None)).await;
    assert_eq!(next(store, 10).await, None);
    store.cancel(&id("r1"), "me", at(11)).await.unwrap();
    assert_eq!(next(store, 12).await.as_deref(), Some("r2"));
    assert_eq!(next(store, 12).await, None);
}

/// Events for a later driver are stored only if the run has no driver. Runs that a newer one replaces get
/// its closing events.
pub(super) async fn aside_and_closing_events_are_stored(store: &dyn Store) {
    let with = |run: &str| Admission {
        aside: vec![event(&format!("aside of {run}"))],
        closing: vec![event(&format!("closing of {run}"))],
        ..overlapping_admission(run, "a", Overlap::CancelOther)
    };
    admit(store, with("r1")).await;
    admit(store, with("r2")).await;
    let driven = Admission {
        claim: Some(first_claim(events(&["first"]))),
        ..with("r3")
    };
    admit(store, driven).await;
    for (run, expected) in [
        ("r1", vec!["aside of r1", "closing of r2"]),
        ("r2", vec!["aside of r2", "closing of r3"]),
        ("r3", vec!["first"]),
    ] {
        let stored = store.events(Some(&id(run)), 0, 10).await.unwrap();
        let kinds: Vec<&str> = stored.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds, expected, "{run}");
    }
}

pub(super) async fn cancel_other_ends_or_asks(store: &dyn Store) {
    let running = start(store, "r1", "a").await;
    let parked = start(store, "r2", "a").await;
    append(store, &parked, park(None)).await;
    admit(store, admission("r3", "a")).await;
    admit(store, admission("r4", "b")).await;
    let newer = overlapping_admission("r5", "a", Overlap::CancelOther);
    let AdmissionResult::New { cancelled, .. } = store.admit(newer).await.unwrap() else {
        panic!("r5 was there");
    };
    assert_eq!(cancelled, [id("r1"), id("r2"), id("r3")]);
    for ended in ["r2", "r3"] {
        let run = row(store, ended).await;
        assert_eq!(run.outcome, Some(Outcome::Cancelled));
        let error = r#"{"class":"cancelled","message":"cancelled by run `r5`"}"#;
        assert_eq!(run.error.as_deref(), Some(error));
    }
    let asked = row(store, "r1").await;
    assert_eq!(asked.status, RunStatus::Running);
    assert_eq!(asked.cancel_by.as_deref(), Some("run `r5`"));
    // `r5` waits until `r1`, which is still running, has ended.
    assert_eq!(next(store, 10).await.as_deref(), Some("r4"));
    assert_eq!(next(store, 10).await, None);
    append(store, &running, success(11)).await;
    assert_eq!(next(store, 12).await.as_deref(), Some("r5"));
}

pub(super) async fn overlap_allow_starts_at_once(store: &dyn Store) {
    start(store, "r1", "a").await;
    admit(store, admission("r2", "a")).await;
    assert_eq!(next(store, 10).await.as_deref(), Some("r2"));
}

pub(super) async fn a_first_claim_stores_its_batch(store: &dyn Store) {
    let mut first = admission("r1", "a");
    first.claim = Some(first_claim(events(&["started", "called"])));
    let AdmissionResult::New {
        run,
        lease,
        first_seq,
        ..
    } = store.admit(first).await.unwrap()
    else {
        panic!("r1 was there");
    };
    assert_eq!(run.status, RunStatus::Running);
    assert_eq!(
        (run.owner.as_deref(), run.started_at),
        (Some("me"), Some(at(1)))
    );
    assert_eq!(run, row(store, "r1").await);
    let stored = store.events(Some(&run.id), 0, 10).await.unwrap();
    assert_eq!(stored.len(), 2);
    assert_eq!(Some(stored[0].seq), first_seq);
    append(store, &lease.unwrap(), success(2)).await;
    // A first batch may also park or end the run.
    let mut second = admission("r2", "a");
    second.claim = Some(first_claim(success(3)));
    let ended = admit(store, second).await;
    assert_eq!((ended.status, ended.finish_ordinal), (RunStatus::Done, 1));
    let mut third = admission("r3", "a");
    third.claim = Some(first_claim(park(Some(at(9)))));
    assert_eq!(admit(store, third).await.wake_at, Some(at(9)));
}

pub(super) async fn a_first_claim_over_the_limit_is_queued(store: &dyn Store) {
    let limited = |run: &str, global, limit| {
        let mut admission = admission(run, "a");
        admission.skill_limit = limit;
        let mut claim = first_claim(events(&["started"]));
        claim.global_limit = global;
        admission.claim = Some(claim);
        admission
    };
    admit(store, limited("r1", Some(1), Some(1))).await;
    for (run, global, limit) in [("r2", Some(1), None), ("r3", None, Some(1))] {
        let answer = store.admit(limited(run, global, limit)).await.unwrap();
        let AdmissionResult::New {
            run,
            lease,
            first_seq,
            ..
        } = answer
        else {
            panic!("{run} was there");
        };
        assert_eq!((run.status, run.started_at), (RunStatus::Queued, None));
        assert_eq!((lease, first_seq), (None, None));
        assert_eq!(store.events(Some(&run.id), 0, 10).await.unwrap(), []);
    }
}

pub(super) async fn a_first_claim_waits_for_earlier_runs(store: &dyn Store) {
    admit(store, admission("r1", "a")).await;
    let mut second = overlapping_admission("r2", "a", Overlap::Queue);
    second.claim = Some(first_claim(Batch::default()));
    assert_eq!(admit(store, second).await.status, RunStatus::Queued);
    let mut third = overlapping_admission("r3", "a", Overlap::CancelOther);
    third.claim = Some(first_claim(Batch::default()));
    // Both other runs were only queued, so they end at once and `r3` can start.
    assert_eq!(admit(store, third).await.status, RunStatus::Running);
}
