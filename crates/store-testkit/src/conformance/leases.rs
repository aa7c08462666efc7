//! Rules about leases: owners, limits and expiry.

use deft_model::RunStatus;

use super::support::{
    admission, admit, append, at, claim, claim_request, events, id, next, park, row, start, success,
};
use deft_store::{Admission, Claim, Error, Store};

pub(super) async fn the_oldest_run_is_claimed_first(store: &dyn Store) {
    for run in ["r5", "b3", "a3", "r4"] {
        admit(store, admission(run, "a")).await;
    }
    for run in ["a3", "b3", "r4", "r5"] {
        assert_eq!(next(store, 10).await.as_deref(), Some(run));
    }
    assert_eq!(next(store, 10).await, None);
}

pub(super) async fn a_parked_run_is_due_at_its_time(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, events(&["started"])).await;
    append(store, &lease, park(Some(at(50)))).await;
    let parked = row(store, "r1").await;
    assert_eq!(
        (parked.status, parked.wake_at),
        (RunStatus::Waiting, Some(at(50)))
    );
    assert_eq!(
        (parked.owner.as_deref(), parked.waits_for()),
        (None, Some("an answer"))
    );
    admit(store, admission("r9", "a")).await;
    // `r1` is not due yet, so the younger `r9` is claimed; later `r1` is claimed before the still younger
    // `r10`.
    assert_eq!(next(store, 49).await.as_deref(), Some("r9"));
    admit(store, admission("r10", "a")).await;
    let claimed = claim(store, 50).await.unwrap();
    assert_eq!(claimed.run.id, id("r1"));
    assert_eq!(claimed.run, row(store, "r1").await);
    assert_eq!((claimed.run.wake_at, claimed.run.waiting_for), (None, None));
    assert_eq!(claimed.run.started_at, Some(at(1)));
    assert_eq!(claimed.lease.token, lease.token + 1);
    assert_eq!(
        claimed.events,
        store.events(Some(&id("r1")), 0, 9).await.unwrap()
    );
    assert_eq!(claimed.events.len(), 1);
}

pub(super) async fn the_limit_of_a_skill_is_enforced(store: &dyn Store) {
    let limited = |run, skill| Admission {
        skill_limit: Some(2),
        ..admission(run, skill)
    };
    for run in ["r1", "r2", "r3"] {
        admit(store, limited(run, "a")).await;
    }
    admit(store, limited("r4", "b")).await;
    let first = claim(store, 10).await.unwrap().lease;
    let other = store
        .claim(claim_request("other", 10))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(other.run.id, id("r2"));
    assert_eq!(next(store, 10).await.as_deref(), Some("r4"));
    assert_eq!(next(store, 10).await, None);
    append(store, &first, success(11)).await;
    assert_eq!(next(store, 12).await.as_deref(), Some("r3"));
}

pub(super) async fn the_limit_of_all_runs_is_enforced(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    admit(store, admission("r2", "b")).await;
    let limited = || Claim {
        global_limit: Some(1),
        ..claim_request("other", 10)
    };
    assert_eq!(store.claim(limited()).await.unwrap(), None);
    append(store, &lease, success(11)).await;
    assert!(store.claim(limited()).await.unwrap().is_some());
}

pub(super) async fn parked_runs_do_not_count(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, park(None)).await;
    let limited = Admission {
        skill_limit: Some(1),
        ..admission("r2", "a")
    };
    admit(store, limited).await;
    let request = Claim {
        global_limit: Some(1),
        ..claim_request("me", 10)
    };
    assert_eq!(
        store.claim(request).await.unwrap().unwrap().run.id,
        id("r2")
    );
}

pub(super) async fn a_claim_of_one_run_takes_no_other(store: &dyn Store) {
    admit(store, admission("r1", "a")).await;
    admit(store, admission("r2", "a")).await;
    let only = |run| Claim {
        only: Some(id(run)),
        ..claim_request("me", 10)
    };
    let claimed = store.claim(only("r2")).await.unwrap().unwrap();
    assert_eq!(claimed.run.id, id("r2"));
    assert_eq!(store.claim(only("r2")).await.unwrap(), None);
    assert_eq!(store.claim(only("r7")).await.unwrap(), None);
    append(store, &claimed.lease, park(Some(at(20)))).await;
    assert_eq!(store.claim(only("r2")).await.unwrap(), None);
}

pub(super) async fn a_stale_lease_is_fenced(store: &dyn Store) {
    let old = start(store, "r1", "a").await;
    let fenced = Error::Fenced {
        run: "r1".to_owned(),
    };
    let freed = store.release(vec!["me".to_owned()], at(5)).await.unwrap();
    assert_eq!(freed, [id("r1")]);
    let late = store.append(&old, events(&["late"])).await;
    assert_eq!(late, Err(fenced.clone()));
    let new = store
        .claim(claim_request("other", 6))
        .await
        .unwrap()
        .unwrap();
    let late = store.append(&old, success(7)).await;
    assert_eq!(late, Err(fenced.clone()));
    append(store, &new.lease, success(8)).await;
    let late = store.append(&new.lease, events(&["late"])).await;
    assert_eq!(late, Err(fenced));
    assert_eq!(store.events(None, 0, 9).await.unwrap(), []);
    let unknown_run = deft_store::Lease {
        run: id("r7"),
        ..old
    };
    let unknown = store.append(&unknown_run, events(&["late"])).await;
    assert_eq!(
        unknown,
        Err(Error::Fenced {
            run: "r7".to_owned()
        })
    );
}

pub(super) async fn release_frees_runs_of_dead_and_late_owners(store: &dyn Store) {
    for run in ["r1", "r2", "r3"] {
        admit(store, admission(run, "a")).await;
    }
    for (owner, second) in [("dead", 100), ("late", 10), ("fine", 100)] {
        store
            .claim(claim_request(owner, second))
            .await
            .unwrap()
            .unwrap();
    }
    // A lease is still valid at the instant at which it ends.
    let dead = || vec!["dead".to_owned()];
    assert_eq!(store.release(Vec::new(), at(70)).await.unwrap(), []);
    let freed = store.release(dead(), at(71)).await.unwrap();
    assert_eq!(freed, [id("r1"), id("r2")]);
    assert_eq!(store.release(dead(), at(71)).await.unwrap(), []);
    let run = row(store, "r1").await;
    assert_eq!((run.status, run.owner), (RunStatus::Queued, None));
    assert_eq!(run.started_at, Some(at(100)));
    assert_eq!(next(store, 80).await.as_deref(), Some("r1"));
}

pub(super) async fn renew_extends_leases_and_returns_cancelled_runs(store: &dyn Store) {
    for run in ["r1", "r2", "r3"] {
        admit(store, admission(run, "a")).await;
    }
    for owner in ["me", "me", "other"] {
        store
            .claim(claim_request(owner, 10))
            .await
            .unwrap()
            .unwrap();
    }
    assert_eq!(store.renew("me", at(500)).await.unwrap(), []);
    for run in ["r2", "r3"] {
        store.cancel(&id(run), "you", at(20)).await.unwrap();
    }
    assert_eq!(store.renew("me", at(600)).await.unwrap(), [id("r2")]);
    assert_eq!(
        store.release(Vec::new(), at(599)).await.unwrap(),
        [id("r3")]
    );
}

pub(super) async fn owners_are_the_processes_with_leases(store: &dyn Store) {
    assert_eq!(store.owners().await.unwrap(), Vec::<String>::new());
    for run in ["r1", "r2", "r3", "r4"] {
        admit(store, admission(run, "a")).await;
    }
    let mut last = None;
    for owner in ["b", "a", "b", "c"] {
        last = store.claim(claim_request(owner, 10)).await.unwrap();
    }
    append(store, &last.unwrap().lease, park(None)).await;
    assert_eq!(store.owners().await.unwrap(), ["a", "b"]);
}
