//! Helpers for the tests of this crate.

use std::path::Path;
use std::time::Duration;

use deft_model::{Cause, Overlap, RunId};
use deft_store::{
    Admission, AdmissionClaim, AdmissionResult, Batch, Claim, Lease, NewEvent, RunRow, Sqlite,
    SqliteOptions, Store,
};
use jiff::Timestamp;

pub(crate) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

/// Opens a store with a short lock timeout.
pub(crate) fn open(path: &Path) -> Sqlite {
    Sqlite::open(path, &short_timeout_options()).unwrap()
}

pub(crate) fn short_timeout_options() -> SqliteOptions {
    SqliteOptions {
        busy_timeout: Duration::from_millis(50),
        ..SqliteOptions::default()
    }
}

pub(crate) fn admission(run: &str) -> Admission {
    Admission {
        run: RunId::new(run),
        skill: "a".to_owned(),
        revision: "sha256:1".to_owned(),
        tier: deft_model::Tier::Workflow,
        agent_id: "main".to_owned(),
        cause: Cause::Cli,
        slot: None,
        step: None,
        key: None,
        parent: None,
        inputs: "{}".to_owned(),
        at: at(0),
        overlap: Overlap::Allow,
        skill_limit: None,
        claim: None,
        aside: Vec::new(),
        writes: Vec::new(),
        closing: Vec::new(),
    }
}

pub(crate) async fn admit(store: &dyn Store, run: &str) -> RunRow {
    match store.admit(admission(run)).await.unwrap() {
        AdmissionResult::New { run, .. } | AdmissionResult::Existing(run) => run,
        AdmissionResult::Stale => unreachable!(),
    }
}

/// Admits a run and takes its lease.
pub(crate) async fn start(store: &dyn Store, run: &str) -> Lease {
    let mut admission = admission(run);
    admission.claim = Some(AdmissionClaim {
        owner: "me".to_owned(),
        until: at(1000),
        global_limit: None,
        batch: Batch::default(),
    });
    match store.admit(admission).await.unwrap() {
        AdmissionResult::New { lease, .. } => lease.unwrap(),
        AdmissionResult::Existing(_) | AdmissionResult::Stale => unreachable!(),
    }
}

pub(crate) fn claim_request(owner: &str) -> Claim {
    Claim {
        owner: owner.to_owned(),
        now: at(10),
        until: at(1000),
        global_limit: None,
        only: None,
    }
}

/// Returns a batch with one event whose body has `bytes` bytes.
pub(crate) fn bulky(bytes: usize) -> Batch {
    Batch {
        events: vec![NewEvent {
            at: at(1),
            kind: "x".to_owned(),
            body: "x".repeat(bytes),
        }],
        ..Batch::default()
    }
}
