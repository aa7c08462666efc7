//! Rules about questions, answers and grants.

use super::support::{
    append, ask, at, claim, decision, id, next, park, question, row, start, success, together,
};
use deft_store::{ApprovalRow, Batch, DecisionResult, Grant, Store};

async fn open(store: &dyn Store) -> Vec<String> {
    let open = store.approvals(false).await.unwrap();
    open.into_iter().map(|row| row.asked.id).collect()
}

pub(super) async fn an_answer_wakes_the_run(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p1", park(None))).await;
    assert_eq!(open(store).await, ["p1"]);
    assert_eq!(next(store, 1000).await, None);
    let answer = store.decide("p1", decision("ann", 30)).await.unwrap();
    let wanted = ApprovalRow {
        asked: question("p1"),
        run: id("r1"),
        skill: "a".to_owned(),
        revision: "sha256:1".to_owned(),
        decision: Some(decision("ann", 30)),
    };
    assert_eq!(answer, DecisionResult::Accepted(wanted.clone()));
    assert_eq!(row(store, "r1").await.wake_at, Some(at(30)));
    assert_eq!(next(store, 30).await.as_deref(), Some("r1"));
    assert_eq!(open(store).await, Vec::<String>::new());
    assert_eq!(store.approvals(true).await.unwrap(), [wanted]);
}

pub(super) async fn the_first_answer_is_kept(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p1", park(Some(at(500))))).await;
    let all = (0..10).map(|n| store.decide("p1", decision(&format!("p{n}"), 30)));
    let answers = together(all.collect()).await;
    let first = answers.iter().find_map(|answer| match answer {
        Ok(DecisionResult::Accepted(row)) => Some(row.clone()),
        _ => None,
    });
    let first = first.unwrap();
    assert_eq!(store.approval("p1").await.unwrap(), Some(first.clone()));
    assert_eq!(store.approval("p9").await.unwrap(), None);
    let already = Ok(DecisionResult::Already(first));
    let late = answers.iter().filter(|answer| **answer == already).count();
    assert_eq!(late, 9);
    let unknown = store.decide("p9", decision("ann", 30)).await.unwrap();
    assert_eq!(unknown, DecisionResult::Unknown);
}

/// The run is still driven when the answer comes, and parks afterwards.
pub(super) async fn an_early_answer_is_not_lost(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p1", Batch::default())).await;
    store.decide("p1", decision("ann", 30)).await.unwrap();
    append(store, &lease, park(None)).await;
    assert_eq!(row(store, "r1").await.wake_at, Some(at(30)));
    let lease = claim(store, 31).await.unwrap().lease;
    append(store, &lease, ask("p2", Batch::default())).await;
    store.decide("p2", decision("ann", 40)).await.unwrap();
    append(store, &lease, park(Some(at(900)))).await;
    assert_eq!(next(store, 41).await.as_deref(), Some("r1"));
}

/// A driver that claims the run after the answer has read it, so its next park is not cut short.
pub(super) async fn a_seen_answer_wakes_no_later_park(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p1", Batch::default())).await;
    store.decide("p1", decision("ann", 30)).await.unwrap();
    store.release(vec!["me".to_owned()], at(31)).await.unwrap();
    let lease = claim(store, 32).await.unwrap().lease;
    append(store, &lease, ask("p2", park(None))).await;
    assert_eq!(row(store, "r1").await.wake_at, None);
    assert_eq!(next(store, 1000).await, None);
}

pub(super) async fn no_answers_after_the_end(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p1", Batch::default())).await;
    append(store, &lease, ask("p2", success(9))).await;
    assert_eq!(open(store).await, Vec::<String>::new());
    let all = store.approvals(true).await.unwrap();
    assert!(all.iter().all(|row| row.decision.is_none()));
    assert_eq!(all.len(), 2);
    let answer = store.decide("p1", decision("ann", 30)).await.unwrap();
    assert_eq!(answer, DecisionResult::Already(all[0].clone()));
}

fn grant(id: &str, skill: &str) -> Grant {
    Grant {
        id: id.to_owned(),
        skill: skill.to_owned(),
        revision: "sha256:1".to_owned(),
        operation: "hash".to_owned(),
        pattern: (id == "g2").then(|| r#"{"to":"*@example.org"}"#.to_owned()),
        describes: "send mail".to_owned(),
        by: "ann".to_owned(),
        at: at(3),
    }
}

pub(super) async fn a_grant_can_be_revoked(store: &dyn Store) {
    for (id, skill) in [("g1", "a"), ("g2", "b"), ("g3", "a")] {
        store.grant(grant(id, skill)).await.unwrap();
    }
    let all = store.all_grants().await.unwrap();
    assert_eq!(all, [grant("g1", "a"), grant("g2", "b"), grant("g3", "a")]);
    assert!(store.revoke("g1").await.unwrap());
    assert!(!store.revoke("g1").await.unwrap());
    assert!(!store.revoke("g").await.unwrap());
    let left = store.all_grants().await.unwrap();
    assert_eq!(left, [grant("g2", "b"), grant("g3", "a")]);
    assert_eq!(store.grants("a").await.unwrap(), [grant("g3", "a")]);
}

pub(super) async fn a_grant_is_stored_only_with_the_answer_that_counts(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, ask("p1", park(None))).await;
    for (approval, id) in [("p1", "g1"), ("p1", "g2"), ("p9", "g3")] {
        let answer = store.decide_with(approval, decision("ann", 30), Some(grant(id, "a")));
        answer.await.unwrap();
    }
    assert_eq!(store.all_grants().await.unwrap(), [grant("g1", "a")]);
}

pub(super) async fn grants_are_kept_by_skill(store: &dyn Store) {
    for (id, skill) in [("g1", "a"), ("g2", "b"), ("g3", "a"), ("g1", "a")] {
        store.grant(grant(id, skill)).await.unwrap();
    }
    let kept = store.grants("a").await.unwrap();
    assert_eq!(kept, [grant("g1", "a"), grant("g3", "a")]);
    assert_eq!(store.grants("c").await.unwrap(), []);
}
