//! Rules about cancelling and reopening.

use deft_model::{Outcome, Overlap, RunStatus};

use super::support::{
    admission, admit, append, ask, at, claim, event, events, first_claim, id, next,
    overlapping_admission, park, row, start, success,
};
use deft_store::{Batch, CancelState, Error, Store};

pub(super) async fn cancel_ends_a_run_without_a_driver(store: &dyn Store) {
    admit(store, admission("r1", "a")).await;
    let lease = start(store, "r2", "a").await;
    append(store, &lease, ask("p", park(Some(at(50))))).await;
    for run in ["r1", "r2"] {
        let CancelState::Done(ended) = store.cancel(&id(run), "ann", at(20)).await.unwrap() else {
            panic!("{run} was not ended");
        };
        assert_eq!(
            (ended.status, ended.outcome),
            (RunStatus::Done, Some(Outcome::Cancelled))
        );
        let error = r#"{"class":"cancelled","message":"cancelled by ann"}"#;
        assert_eq!(ended.error.as_deref(), Some(error));
        assert_eq!((ended.finished_at, ended.finish_ordinal), (Some(at(20)), 1));
        assert_eq!((&ended.wake_at, &ended.waiting_for), (&None, &None));
        assert_eq!(ended.cancel_by.as_deref(), Some("ann"));
        assert_eq!(ended, row(store, run).await);
        let again = store.cancel(&id(run), "bob", at(21)).await.unwrap();
        assert_eq!(again, CancelState::Already(ended));
    }
    assert_eq!(store.approvals(false).await.unwrap(), []);
    assert_eq!(next(store, 100).await, None);
    let unknown = store.cancel(&id("r9"), "ann", at(20)).await.unwrap();
    assert_eq!(unknown, CancelState::Unknown);
}

pub(super) async fn the_close_is_stored_with_the_end(store: &dyn Store) {
    admit(store, admission("r1", "a")).await;
    start(store, "r2", "a").await;
    for run in ["r1", "r2", "r1"] {
        let closing = vec![event("stopped"), event("finished")];
        let cancelled = store.cancel_with(&id(run), "ann", at(20), closing).await;
        cancelled.unwrap();
    }
    for (run, expected) in [("r1", vec!["stopped", "finished"]), ("r2", Vec::new())] {
        let stored = store.events(Some(&id(run)), 0, 10).await.unwrap();
        let kinds: Vec<&str> = stored.iter().map(|event| event.kind.as_str()).collect();
        assert_eq!(kinds, expected, "{run}");
    }
}

pub(super) async fn cancel_asks_the_driver(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let answer = store.cancel(&id("r1"), "ann", at(20)).await.unwrap();
    assert_eq!(answer, CancelState::Asked(row(store, "r1").await));
    let appended = append(store, &lease, events(&["x"])).await;
    assert_eq!(appended.cancel_by.as_deref(), Some("ann"));
    // The next driver sees the cancel request too.
    store.release(vec!["me".to_owned()], at(21)).await.unwrap();
    let claimed = claim(store, 22).await.unwrap();
    assert_eq!(claimed.run.cancel_by.as_deref(), Some("ann"));
}

pub(super) async fn a_cancelled_run_does_not_park(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    store.cancel(&id("r1"), "ann", at(20)).await.unwrap();
    append(store, &lease, park(Some(at(500)))).await;
    assert_eq!(next(store, 21).await.as_deref(), Some("r1"));
}

pub(super) async fn the_first_canceller_is_stored(store: &dyn Store) {
    start(store, "r1", "a").await;
    store.cancel(&id("r1"), "ann", at(20)).await.unwrap();
    store.cancel(&id("r1"), "bob", at(21)).await.unwrap();
    assert_eq!(row(store, "r1").await.cancel_by.as_deref(), Some("ann"));
}

pub(super) async fn reopen_makes_due_again(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    store.cancel(&id("r1"), "ann", at(5)).await.unwrap();
    append(store, &lease, success(9)).await;
    let run = store
        .reopen(&id("r1"), event("resumed"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((run.status, run.outcome), (RunStatus::Queued, None));
    assert_eq!(
        (run.finished_at, &run.error, &run.outputs),
        (None, &None, &None)
    );
    assert_eq!((run.finish_ordinal, &run.cancel_by), (1, &None));
    assert_eq!(run, row(store, "r1").await);
    let claimed = claim(store, 12).await.unwrap();
    assert_eq!(claimed.events.last().unwrap().kind, "resumed");
    assert_eq!(claimed.run.started_at, Some(at(1)));
    assert_eq!(claimed.lease.token, lease.token + 1);
    append(store, &claimed.lease, success(13)).await;
    assert_eq!(row(store, "r1").await.finish_ordinal, 2);
}

pub(super) async fn reopen_queues_after_other_runs(store: &dyn Store) {
    let mut first = overlapping_admission("r1", "a", Overlap::Queue);
    first.claim = Some(first_claim(success(2)));
    admit(store, first).await;
    admit(store, overlapping_admission("r2", "a", Overlap::Queue)).await;
    store.reopen(&id("r1"), event("resumed")).await.unwrap();
    let second = claim(store, 10).await.unwrap();
    assert_eq!(second.run.id, id("r2"));
    assert_eq!(next(store, 10).await, None);
    append(store, &second.lease, success(11)).await;
    assert_eq!(next(store, 12).await.as_deref(), Some("r1"));
}

pub(super) async fn reopen_refuses_unfinished_runs(store: &dyn Store) {
    let unknown = store.reopen(&id("r1"), event("resumed")).await.unwrap();
    assert_eq!(unknown, None);
    let mut first = admission("r1", "a");
    first.claim = Some(first_claim(Batch::default()));
    admit(store, first).await;
    let refused = store.reopen(&id("r1"), event("resumed")).await;
    let (run, status) = ("r1".to_owned(), RunStatus::Running);
    assert_eq!(refused, Err(Error::NotDone { run, status }));
    assert_eq!(store.events(None, 0, 9).await.unwrap(), []);
}
