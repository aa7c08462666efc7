//! Rules about batches.

use deft_model::{Outcome, Overlap, RunStatus};

use super::support::{
    admission, admit, append, ask, at, claim, event, events, first_claim, id,
    overlapping_admission, park, row, start, success, together,
};
use deft_store::{AdmissionResult, Answer, Batch, Error, Lease, Store, Write};

pub(super) async fn events_are_numbered_without_gaps(store: &dyn Store) {
    assert_eq!(store.newest_event().await.unwrap(), 0);
    let one = start(store, "r1", "a").await;
    let two = start(store, "r2", "a").await;
    let first = append(store, &one, events(&["a", "b"])).await.first_seq;
    let second = append(store, &two, events(&["c"])).await.first_seq;
    assert!(second > first + 1);
    let mut batch = events(&["d", "e", "f"]);
    batch.then = park(None).then;
    let third = append(store, &one, batch).await.first_seq;
    assert!(third > second);
    let stored = store.events(Some(&id("r1")), 0, 100).await.unwrap();
    let seqs: Vec<u64> = stored.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [first, first + 1, third, third + 1, third + 2]);
    assert_eq!(store.newest_event().await.unwrap(), third + 2);
    let kinds: Vec<&str> = stored.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["a", "b", "d", "e", "f"]);
    let wanted = event("a");
    assert_eq!(stored[0].run, id("r1"));
    assert_eq!((stored[0].at, &stored[0].body), (wanted.at, &wanted.body));
}

pub(super) async fn an_empty_batch_is_fine(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let answer = append(store, &lease, Batch::default()).await;
    assert_eq!((answer.first_seq, answer.cancel_by), (0, None));
}

pub(super) async fn a_finish_stores_every_column(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, success(9)).await;
    let run = row(store, "r1").await;
    assert_eq!(
        (run.status, run.outcome),
        (RunStatus::Done, Some(Outcome::Success))
    );
    assert_eq!(run.outputs.as_deref(), Some("2"));
    assert_eq!(run.usage, None);
    assert_eq!((run.error, run.owner), (None, None));
    assert_eq!((run.finished_at, run.finish_ordinal), (Some(at(9)), 1));
    assert_eq!(store.owners().await.unwrap(), Vec::<String>::new());
    assert_eq!(claim(store, 1000).await, None);
}

/// Good and bad entries that arrive together, so that a backend may commit them together.
pub(super) async fn a_failed_entry_leaves_others_intact(store: &dyn Store) {
    let mut leases = Vec::new();
    for n in 0..20 {
        leases.push(start(store, &format!("r{n}"), "a").await);
    }
    let stale = |lease: &Lease| Lease {
        token: lease.token + 1,
        ..lease.clone()
    };
    let all = leases.iter().enumerate().map(|(n, lease)| {
        let lease = if n % 3 == 1 {
            stale(lease)
        } else {
            lease.clone()
        };
        let twice = ask("p", ask("p", Batch::default()));
        let writes = if n % 3 == 2 {
            [twice.writes.clone(), twice.writes].concat()
        } else {
            Vec::new()
        };
        let events = events(&["x"]).events;
        store.append(
            &lease,
            Batch {
                events,
                writes,
                ..Batch::default()
            },
        )
    });
    let answers = together(all.collect()).await;
    for (n, answer) in answers.iter().enumerate() {
        match n % 3 {
            0 => assert!(answer.is_ok()),
            1 => assert!(matches!(answer, Err(Error::Fenced { .. }))),
            _ => assert!(matches!(answer, Err(Error::Taken { .. }))),
        }
    }
    let good = answers.iter().flatten().count();
    assert_eq!(store.events(None, 0, 100).await.unwrap().len(), good);
    assert_eq!(store.approvals(true).await.unwrap(), []);
}

pub(super) async fn a_failed_batch_stores_nothing(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p", Batch::default())).await;
    let mut bad = ask("p", success(9));
    bad.events = events(&["x"]).events;
    bad.writes.insert(
        0,
        Write::Cache {
            key: "k".to_owned(),
            value: "1".to_owned(),
            at: at(1),
            expires_at: at(100),
        },
    );
    let answer = store.append(&lease, bad.clone()).await;
    assert!(matches!(
        answer,
        Err(Error::Taken {
            what: "an approval",
            ..
        })
    ));
    let mut second = admission("r2", "a");
    second.claim = Some(first_claim(bad));
    let answer = store.admit(second).await;
    assert!(matches!(
        answer,
        Err(Error::Taken {
            what: "an approval",
            ..
        })
    ));
    assert_eq!(store.run(&id("r2")).await.unwrap(), None);
    assert_eq!(store.events(None, 0, 9).await.unwrap(), []);
    assert_eq!(store.read_cached("k", at(2)).await.unwrap(), None);
    assert_eq!(row(store, "r1").await.status, RunStatus::Running);
    // The id of the refused run is still free.
    let retry = store.admit(admission("r2", "a")).await;
    assert!(matches!(retry, Ok(AdmissionResult::New { .. })));
}

/// The active runs are cancelled before the conflict of ids is found.
pub(super) async fn a_refused_admission_cancels_no_run(store: &dyn Store) {
    let mut leases = Vec::new();
    for n in 0..8 {
        leases.push(start(store, &format!("r{n}"), "a").await);
    }
    admit(store, admission("r8", "a")).await;
    let mut all = Vec::new();
    for lease in &leases {
        let taken = overlapping_admission("r0", "a", Overlap::CancelOther);
        all.push(drop_value(store.append(lease, events(&["x"]))));
        all.push(drop_value(store.admit(taken)));
    }
    let answers = together(all).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 8);
    assert_eq!(row(store, "r8").await.status, RunStatus::Queued);
    assert_eq!(row(store, "r1").await.cancel_by, None);
    assert_eq!(store.events(None, 0, 100).await.unwrap().len(), 8);
}

/// Drops the value of a result; only whether it is an error matters.
fn drop_value<'a, T: 'a>(answer: Answer<'a, T>) -> Answer<'a, ()> {
    Box::pin(async { answer.await.map(|_| ()) })
}
