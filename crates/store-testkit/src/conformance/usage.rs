//! Rules about the usage in the row of a run, taken from the ledger when the run ends.

use deft_model::Overlap;

use super::support::{
    append, at, claim, event, id, overlapping_admission, park, row, start, success,
};
use deft_store::{Batch, CancelState, Lease, Spend, Store, Write, run_scope};

/// Returns the usage of a model call with this cost, in millionths of a dollar, and number of requests.
fn call(lease: &Lease, key: &str, micros: u64, calls: u64) -> Write {
    Write::Spend(Spend {
        key: key.to_owned(),
        scopes: vec![run_scope(&lease.run), "all@1".to_owned()],
        tokens_in: 20,
        tokens_out: 5,
        micros,
        calls,
        agent: "main".to_owned(),
        at: at(5),
    })
}

fn with(write: Write, batch: Batch) -> Batch {
    Batch {
        writes: vec![write],
        ..batch
    }
}

/// The row and the result of the last batch both include the calls of that batch.
pub(super) async fn a_row_has_the_usage_of_its_run(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    let first = with(call(&lease, "k1", 100_000, 3), Batch::default());
    assert_eq!(append(store, &lease, first).await.usage, None);
    assert_eq!(row(store, "r1").await.usage, None);
    let last = with(call(&lease, "k2", 200_000, 1), success(9));
    let told = append(store, &lease, last).await.usage;
    let expected =
        r#"{"input_tokens":40,"output_tokens":10,"cost_usd":0.3,"llm_calls":4}"#.to_owned();
    assert_eq!(told.as_ref(), Some(&expected));
    assert_eq!(row(store, "r1").await.usage, Some(expected));
    // A run without model calls has no usage, whatever other runs used.
    let lease = start(store, "r2", "a").await;
    assert_eq!(append(store, &lease, success(9)).await.usage, None);
    assert_eq!(row(store, "r2").await.usage, None);
}

/// The row of a run that is cancelled without a driver has the usage too.
pub(super) async fn a_cancelled_run_stores_its_usage(store: &dyn Store) {
    for run in ["r1", "r2"] {
        let lease = start(store, run, run).await;
        let spent = with(call(&lease, "k", 1, 1), park(None));
        append(store, &lease, spent).await;
    }
    let CancelState::Done(one) = store.cancel(&id("r1"), "ada", at(9)).await.unwrap() else {
        panic!("nobody drives it");
    };
    let newer = overlapping_admission("r3", "r2", Overlap::CancelOther);
    store.admit(newer).await.unwrap();
    let expected = r#"{"input_tokens":20,"output_tokens":5,"cost_usd":1e-6,"llm_calls":1}"#;
    assert_eq!(one.usage.as_deref(), Some(expected));
    assert_eq!(row(store, "r2").await.usage.as_deref(), Some(expected));
}

pub(super) async fn a_resumed_run_adds_to_its_usage(store: &dyn Store) {
    let lease = start(store, "r1", "a").await;
    append(store, &lease, with(call(&lease, "k1", 10, 1), success(9))).await;
    let reopened = store.reopen(&id("r1"), event("resumed")).await.unwrap();
    assert_eq!(reopened.unwrap().usage, None);
    let lease = claim(store, 11).await.unwrap().lease;
    append(store, &lease, with(call(&lease, "k2", 20, 1), success(12))).await;
    let expected = r#"{"input_tokens":40,"output_tokens":10,"cost_usd":0.00003,"llm_calls":2}"#;
    assert_eq!(row(store, "r1").await.usage.as_deref(), Some(expected));
}
