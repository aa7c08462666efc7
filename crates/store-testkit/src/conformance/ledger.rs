//! Rules about budgets: reservations, spending, and that their sum never exceeds a limit.

use super::skills::stale_end;
use super::support::{append, at, claim, claim_request, event, id, park, start, success, together};
use deft_store::{
    Batch, CancelState, Error, Estimate, Lease, Limit, Prune, Refusal, ReservationResult, Reserve,
    Spend, SpentFilter, SpentRow, Store, UsageRow, Write, bucket,
};

/// Returns a scope with a token limit.
fn limit(scope: &str, tokens: u64) -> Limit {
    Limit {
        scope: scope.to_owned(),
        tokens: Some(tokens),
        micros: None,
    }
}

fn free(scope: &str) -> Limit {
    Limit {
        scope: scope.to_owned(),
        tokens: None,
        micros: None,
    }
}

/// Returns a request for `tokens` tokens and ten times as many millionths of a dollar.
fn want(key: &str, tokens: u64, scopes: &[Limit]) -> Reserve {
    Reserve {
        key: key.to_owned(),
        scopes: scopes.to_vec(),
        tokens,
        micros: tokens * 10,
        estimate: Estimate::default(),
        at: at(3),
    }
}

async fn reserve(store: &dyn Store, lease: &Lease, request: Reserve) -> ReservationResult {
    store.reserve(lease, request).await.unwrap()
}

/// Reserves and asserts that the request is granted.
async fn grant(store: &dyn Store, lease: &Lease, request: Reserve) {
    let answer = reserve(store, lease, request).await;
    assert_eq!(answer, ReservationResult::Granted);
}

async fn refuse(store: &dyn Store, lease: &Lease, request: Reserve) -> Refusal {
    match reserve(store, lease, request).await {
        ReservationResult::Refused(refusal) => refusal,
        ReservationResult::Granted => panic!("granted"),
    }
}

/// Returns the usage of a call with three times as many input as output tokens.
fn spend(key: &str, tokens: u64, scopes: &[&str]) -> Spend {
    Spend {
        key: key.to_owned(),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        tokens_in: tokens - tokens / 4,
        tokens_out: tokens / 4,
        micros: tokens * 10,
        calls: 1,
        agent: "main".to_owned(),
        at: at(5),
    }
}

fn batch(write: Write) -> Batch {
    Batch {
        writes: vec![write],
        ..Batch::default()
    }
}

async fn record_spend(store: &dyn Store, lease: &Lease, spend: Spend) {
    append(store, lease, batch(Write::Spend(spend))).await;
}

async fn list_spent(store: &dyn Store) -> Vec<SpentRow> {
    store.list_spent(SpentFilter::default()).await.unwrap()
}

/// Returns the scopes with their spent and their reserved tokens.
async fn tokens(store: &dyn Store) -> Vec<(String, u64, u64)> {
    let rows = list_spent(store).await.into_iter();
    rows.map(|row| {
        (
            row.scope,
            row.tokens_in + row.tokens_out,
            row.reserved_tokens,
        )
    })
    .collect()
}

fn are(rows: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    let rows = rows.iter();
    rows.map(|(scope, spent, reserved)| ((*scope).to_owned(), *spent, *reserved))
        .collect()
}

pub(super) async fn a_limit_is_reached_and_not_passed(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let day = [limit("all@1", 100)];
    grant(store, &lease, want("k1", 30, &day)).await;
    record_spend(store, &lease, spend("k1", 40, &["all@1"])).await;
    grant(store, &lease, want("k2", 50, &day)).await;
    let refusal = refuse(store, &lease, want("k3", 11, &day)).await;
    let wanted = Refusal {
        scope: "all@1".to_owned(),
        limit_tokens: Some(100),
        limit_micros: None,
        spent_tokens: 40,
        spent_micros: 400,
        reserved_tokens: 50,
        reserved_micros: 500,
    };
    assert_eq!(refusal, wanted);
    grant(store, &lease, want("k3", 10, &day)).await;
    assert_eq!(tokens(store).await, are(&[("all@1", 40, 60)]));
}

pub(super) async fn money_has_limits_too(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let day = [Limit {
        scope: "all@1".to_owned(),
        tokens: Some(1000),
        micros: Some(500),
    }];
    grant(store, &lease, want("k1", 50, &day)).await;
    let refusal = refuse(store, &lease, want("k2", 1, &day)).await;
    assert_eq!(
        (refusal.limit_micros, refusal.reserved_micros),
        (Some(500), 500)
    );
    let for_nothing = Reserve {
        micros: 0,
        ..want("k2", 1, &day)
    };
    grant(store, &lease, for_nothing).await;
}

pub(super) async fn all_scopes_or_none(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let scopes = [free("run:r1"), limit("skill:a@1", 100), limit("all@1", 5)];
    let refusal = refuse(store, &lease, want("k1", 10, &scopes)).await;
    assert_eq!(refusal.scope, "all@1");
    assert_eq!(tokens(store).await, are(&[]));
    // The refusal names the first scope whose limit is exceeded.
    let both = [limit("b", 5), limit("a", 5)];
    assert_eq!(
        refuse(store, &lease, want("k1", 10, &both)).await.scope,
        "b"
    );
    // A scope without limits is counted too.
    grant(store, &lease, want("k1", 10, &scopes[..2])).await;
    let wanted = are(&[("run:r1", 0, 10), ("skill:a@1", 0, 10)]);
    assert_eq!(tokens(store).await, wanted);
}

pub(super) async fn the_same_key_replaces(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let other = start(store, "r2", "a").await;
    let day = [limit("all@1", 100)];
    grant(
        store,
        &lease,
        want("k1", 60, &[limit("all@1", 100), free("old")]),
    )
    .await;
    grant(store, &lease, want("k1", 90, &day)).await;
    assert_eq!(tokens(store).await, are(&[("all@1", 0, 90)]));
    let refusal = refuse(store, &lease, want("k1", 101, &day)).await;
    assert_eq!(refusal.reserved_tokens, 0);
    assert_eq!(tokens(store).await, are(&[("all@1", 0, 90)]));
    // Keys belong to a run.
    let refusal = refuse(store, &other, want("k1", 11, &day)).await;
    assert_eq!(refusal.reserved_tokens, 90);
    grant(store, &other, want("k1", 10, &day)).await;
    assert_eq!(tokens(store).await, are(&[("all@1", 0, 100)]));
}

pub(super) async fn a_scope_named_twice_counts_once(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let twice = [limit("s", 100), limit("s", 50)];
    grant(store, &lease, want("k1", 40, &twice)).await;
    assert_eq!(tokens(store).await, are(&[("s", 0, 40)]));
    let refusal = refuse(store, &lease, want("k2", 20, &twice)).await;
    assert_eq!(refusal.limit_tokens, Some(50));
    record_spend(store, &lease, spend("k1", 40, &["s", "s"])).await;
    assert_eq!(tokens(store).await, are(&[("s", 40, 0)]));
}

pub(super) async fn spending_replaces_its_reservation(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let scopes = [free("all@1"), free("run:r1")];
    grant(store, &lease, want("k1", 100, &scopes)).await;
    grant(store, &lease, want("k2", 7, &scopes)).await;
    let row = |scope: &str, calls| SpentRow {
        scope: scope.to_owned(),
        tokens_in: 30 * calls,
        tokens_out: 10 * calls,
        micros: 400 * calls,
        calls,
        reserved_tokens: 7,
        reserved_micros: 70,
        ..SpentRow::default()
    };
    // Only the first record of a key counts, even if later ones differ.
    for tokens in [40, 40, 80] {
        let spend = spend("k1", tokens, &["all@1", "run:r1"]);
        record_spend(store, &lease, spend).await;
        assert_eq!(list_spent(store).await, [row("all@1", 1), row("run:r1", 1)]);
    }
    // A call without a reservation, or in other scopes than it was reserved for, is counted.
    record_spend(store, &lease, spend("k3", 40, &["all@1"])).await;
    assert_eq!(list_spent(store).await, [row("all@1", 2), row("run:r1", 1)]);
    // Another run has its own keys.
    let other = start(store, "r2", "a").await;
    record_spend(store, &other, spend("k1", 40, &["all@1"])).await;
    assert_eq!(list_spent(store).await, [row("all@1", 3), row("run:r1", 1)]);
}

/// Providers report usage after the call, so a call may use more than its reservation.
pub(super) async fn more_than_was_reserved_is_counted_in_full(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let day = [limit("all@1", 100)];
    grant(store, &lease, want("k1", 100, &day)).await;
    record_spend(store, &lease, spend("k1", 120, &["all@1"])).await;
    assert_eq!(tokens(store).await, are(&[("all@1", 120, 0)]));
    let refusal = refuse(store, &lease, want("k2", 0, &day)).await;
    assert_eq!(refusal.spent_tokens, 120);
}

pub(super) async fn a_call_without_an_answer_releases_its_reservation(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let other = start(store, "r2", "a").await;
    for (lease, key) in [(&lease, "k1"), (&lease, "k2"), (&other, "k1")] {
        grant(store, lease, want(key, 10, &[free("s")])).await;
    }
    let back = |key: &str| {
        let key = key.to_owned();
        batch(Write::Unreserve { key })
    };
    append(store, &lease, back("k1")).await;
    append(store, &lease, back("k1")).await;
    append(store, &lease, back("k9")).await;
    assert_eq!(tokens(store).await, are(&[("s", 0, 20)]));
    // The call may be tried again under its key.
    grant(store, &lease, want("k1", 5, &[free("s")])).await;
    record_spend(store, &lease, spend("k1", 4, &["s"])).await;
    assert_eq!(tokens(store).await, are(&[("s", 4, 20)]));
}

/// A reservation ends when the run parks, finishes, or is taken over from a dead process.
pub(super) async fn reservations_end_with_the_lease(store: &dyn Store) {
    let other = start(store, "r0", "a").await;
    grant(store, &other, want("k", 1, &[free("s")])).await;
    let lease = start(store, "r1", "b").await;
    let hold = want("k", 10, &[free("s"), free("t")]);
    grant(store, &lease, hold.clone()).await;
    append(store, &lease, Batch::default()).await;
    assert_eq!(tokens(store).await, are(&[("s", 0, 11), ("t", 0, 10)]));
    append(store, &lease, park(Some(at(30)))).await;
    assert_eq!(tokens(store).await, are(&[("s", 0, 1)]));

    let lease = claim(store, 31).await.unwrap().lease;
    grant(store, &lease, hold.clone()).await;
    let dead = store.release(Vec::new(), at(2000)).await.unwrap();
    assert_eq!(dead.len(), 2);
    // Nothing is reserved and no estimate was spent.
    assert_eq!(tokens(store).await, are(&[("s", 0, 0), ("t", 0, 0)]));

    let mut only = claim_request("me", 2000);
    only.only = Some(id("r1"));
    let lease = store.claim(only).await.unwrap().unwrap().lease;
    grant(store, &lease, hold.clone()).await;
    append(store, &lease, success(2001)).await;
    assert_eq!(tokens(store).await, are(&[("s", 0, 0), ("t", 0, 0)]));
}

/// A crash leaves no reservation behind, but the provider may charge for calls in flight: their estimate is
/// spent once per crash, in addition to the usage of the repeated call.
pub(super) async fn a_crash_spends_the_estimate(store: &dyn Store) {
    let day = [free("run:r1"), limit("all@1", 1000)];
    let hold = Reserve {
        estimate: Estimate {
            agent: "main".to_owned(),
            tokens: 30,
            micros: 5,
        },
        ..want("k", 100, &day)
    };
    start(store, "r1", "a").await;
    for crash in 1..=2 {
        store
            .release(vec!["me".to_owned()], at(crash))
            .await
            .unwrap();
        let lease = claim(store, crash + 3).await.unwrap().lease;
        grant(store, &lease, hold.clone()).await;
    }
    store.release(vec!["me".to_owned()], at(9)).await.unwrap();
    // A second release finds no lease, so nothing is counted twice.
    store.release(vec!["me".to_owned()], at(10)).await.unwrap();
    let lease = claim(store, 11).await.unwrap().lease;
    grant(store, &lease, hold).await;
    append(
        store,
        &lease,
        batch(Write::Spend(spend("k", 40, &["run:r1", "all@1"]))),
    )
    .await;
    append(store, &lease, success(12)).await;
    let row = |scope: &str| SpentRow {
        scope: scope.to_owned(),
        tokens_in: 2 * 30 + 30,
        tokens_out: 10,
        micros: 2 * 5 + 400,
        calls: 2 + 1,
        estimated_tokens: 60,
        estimated_micros: 10,
        estimated_calls: 2,
        ..SpentRow::default()
    };
    assert_eq!(list_spent(store).await, [row("all@1"), row("run:r1")]);
    let usage = store.run(&id("r1")).await.unwrap().unwrap().usage.unwrap();
    assert!(usage.contains(r#""estimated_calls":2"#), "{usage}");
    let asked = store.usage_since("main", at(0)).await.unwrap();
    assert_eq!(asked.iter().map(|row| row.tokens).sum::<u64>(), 60 + 40);
}

pub(super) async fn a_lost_lease_reserves_nothing(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let fenced = Err(Error::fenced_error(&id("r1")));
    store.release(vec!["me".to_owned()], at(9)).await.unwrap();
    let late = store.reserve(&lease, want("k", 1, &[free("s")])).await;
    assert_eq!(late, fenced);
    let newer = claim(store, 10).await.unwrap().lease;
    let late = store.reserve(&lease, want("k", 1, &[free("s")])).await;
    assert_eq!(late, fenced);
    append(store, &newer, success(11)).await;
    let late = store.reserve(&newer, want("k", 1, &[free("s")])).await;
    assert_eq!(late, fenced);
    let late = batch(Write::Spend(spend("k", 4, &["s"])));
    assert!(store.append(&newer, late).await.is_err());
    assert_eq!(tokens(store).await, are(&[]));
}

pub(super) async fn a_failed_batch_spends_nothing(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    grant(store, &lease, want("k1", 10, &[free("s")])).await;
    let mut stale = stale_end(store).await;
    stale.writes = vec![Write::Spend(spend("k1", 8, &["s"]))];
    assert!(store.append(&lease, stale).await.is_err());
    assert_eq!(tokens(store).await, are(&[("s", 0, 10)]));
    let used = store.usage_since("main", at(0)).await.unwrap();
    assert_eq!(used, []);
}

/// The driver of a run reacts to a cancel request, so its reservations stay.
pub(super) async fn a_cancel_request_keeps_reservations(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    grant(store, &lease, want("k1", 10, &[free("s")])).await;
    let closing = vec![event("over")];
    let asked = store.cancel_with(&id("r1"), "ann", at(6), closing).await;
    assert!(matches!(asked, Ok(CancelState::Asked(_))));
    assert_eq!(tokens(store).await, are(&[("s", 0, 10)]));
    record_spend(store, &lease, spend("k1", 8, &["s"])).await;
    assert_eq!(tokens(store).await, are(&[("s", 8, 0)]));
}

pub(super) async fn twenty_at_once_do_not_overspend(store: &dyn Store) {
    let mut leases = Vec::new();
    for n in 0..20 {
        leases.push(start(store, &format!("r{n}"), "a").await);
    }
    let request = || want("k", 10, &[limit("all@1", 75)]);
    let answers = leases.iter().map(|lease| store.reserve(lease, request()));
    let answers = together(answers.collect()).await;
    let granted = answers
        .into_iter()
        .filter(|answer| *answer == Ok(ReservationResult::Granted));
    assert_eq!(granted.count(), 7);
    assert_eq!(tokens(store).await, are(&[("all@1", 0, 70)]));
}

pub(super) async fn scopes_are_found_by_their_names(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let names = ["all@2", "skill:a@1", "skill:b@2", "skill", "all@1"];
    record_spend(store, &lease, spend("k1", 4, &names)).await;
    grant(store, &lease, want("k2", 1, &[free("skill:c@2")])).await;
    let text = |text: &str| Some(text.to_owned());
    let found = async |scope, prefix, suffix| -> Vec<String> {
        let filter = SpentFilter {
            scope,
            prefix,
            suffix,
        };
        let rows = store.list_spent(filter).await.unwrap();
        rows.into_iter().map(|row| row.scope).collect()
    };
    let all = [
        "all@1",
        "all@2",
        "skill",
        "skill:a@1",
        "skill:b@2",
        "skill:c@2",
    ];
    assert_eq!(found(None, None, None).await, all);
    assert_eq!(found(None, text("skill:"), None).await, all[3..]);
    let today = found(None, None, text("@2")).await;
    assert_eq!(today, ["all@2", "skill:b@2", "skill:c@2"]);
    let both = found(None, text("skill:"), text("@2")).await;
    assert_eq!(both, ["skill:b@2", "skill:c@2"]);
    assert_eq!(found(text("skill"), None, None).await, ["skill"]);
    assert_eq!(found(text("skill:c@2"), None, None).await, ["skill:c@2"]);
    assert_eq!(found(text("sk"), None, None).await, Vec::<String>::new());
    let neither = found(text("skill"), text("all"), None).await;
    assert_eq!(neither, Vec::<String>::new());
}

/// Instants here are `at(n)`, and `at(0)` is the start of a bucket.
pub(super) async fn usage_is_kept_in_buckets(store: &dyn Store) {
    assert_eq!(bucket(at(0)), at(0));
    assert_eq!(bucket(at(599)), at(0));
    assert_eq!(bucket(at(-1)), at(-600));
    let lease = start(store, "r1", "a").await;
    let used = |key: &str, second, agent: &str| Spend {
        at: at(second),
        agent: agent.to_owned(),
        ..spend(key, 40, &[])
    };
    let calls = [
        ("k1", 0, "main"),
        ("k2", 599, "main"),
        ("k2", 599, "main"),
        ("k3", 600, "main"),
        ("k4", 700, "mail"),
        ("k5", 2000, "main"),
    ];
    for (key, second, agent) in calls {
        record_spend(store, &lease, used(key, second, agent)).await;
    }
    let row = |second, calls| UsageRow {
        bucket: at(second),
        tokens: 40 * calls,
        micros: 400 * calls,
        calls,
    };
    let all = [row(0, 2), row(600, 1), row(1800, 1)];
    let since = async |agent, second| store.usage_since(agent, at(second)).await.unwrap();
    assert_eq!(since("main", -5).await, all);
    assert_eq!(since("main", 599).await, all);
    assert_eq!(since("main", 600).await, all[1..]);
    assert_eq!(since("mail", 0).await, [row(600, 1)]);
    assert_eq!(since("mail", 1200).await, []);
    assert_eq!(since("mai", 0).await, []);
}

pub(super) async fn old_spending_is_deleted(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    for (key, second, scopes) in [("k1", 5, ["all@1", "long"]), ("k2", 900, ["all@2", "long"])] {
        let spend = Spend {
            at: at(second),
            ..spend(key, 4, &scopes)
        };
        record_spend(store, &lease, spend).await;
    }
    grant(store, &lease, want("k3", 1, &[free("all@1")])).await;
    assert_eq!(store.forget_spent(at(5)).await.unwrap(), 0);
    // One scope, and the bucket that ends at this instant.
    assert_eq!(store.forget_spent(at(600)).await.unwrap(), 2);
    let wanted = are(&[("all@1", 0, 1), ("all@2", 4, 0), ("long", 8, 0)]);
    assert_eq!(tokens(store).await, wanted);
    let left = store.usage_since("main", at(0)).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(store.forget_spent(at(900)).await.unwrap(), 0);
    // A key that was counted is not counted again.
    record_spend(store, &lease, spend("k1", 4, &["all@1"])).await;
    assert_eq!(tokens(store).await, wanted);
}

pub(super) async fn spending_is_kept_after_its_run(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    record_spend(store, &lease, spend("k1", 4, &["s"])).await;
    append(store, &lease, success(9)).await;
    let request = Prune {
        before: at(100),
        now: at(100),
        limit: 9,
        only_count: false,
    };
    assert_eq!(store.prune(request).await.unwrap().runs, [id("r1")]);
    assert_eq!(tokens(store).await, are(&[("s", 4, 0)]));
}
