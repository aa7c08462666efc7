//! Helpers for implementing backends: new rows, sums, word matching, and the few errors of runs that a store
//! writes itself.
//!
//! The driver of a run writes all other errors. Not here: state rules. Each backend implements its own, and
//! the conformance suite of `deft-store-testkit` compares them.

pub use crate::ledger::{Balance, amount, bucket_end};
pub use crate::words::Query;
use crate::{Admission, NewApproval, RunRow, Write};
use deft_model::{Failure, FailureClass, RunId, RunStatus};

impl RunRow {
    /// Returns why the run waits, in words for people.
    pub fn waits_for(&self) -> Option<&str> {
        self.waiting_for.as_ref().map(|reason| reason.text.as_str())
    }

    /// Returns the row of a newly admitted run.
    pub fn queued_row(run: &Admission) -> Self {
        Self {
            id: run.run.clone(),
            skill: run.skill.clone(),
            revision: run.revision.clone(),
            tier: run.tier,
            agent_id: run.agent_id.clone(),
            cause: run.cause.clone(),
            slot: run.slot,
            slot_until: None,
            slot_count: 1,
            key: run.key.clone(),
            parent: run.parent.clone(),
            status: RunStatus::Queued,
            outcome: None,
            inputs: run.inputs.clone(),
            outputs: None,
            error: None,
            usage: None,
            admitted_at: run.at,
            started_at: None,
            finished_at: None,
            wake_at: None,
            waiting_for: None,
            cancel_by: None,
            owner: None,
            finish_ordinal: 0,
        }
    }
}

/// Yields the questions among the writes of a batch.
pub fn questions(writes: &[Write]) -> impl Iterator<Item = &NewApproval> {
    writes.iter().filter_map(|write| match write {
        Write::Ask(question) => Some(question),
        Write::Cache { .. }
        | Write::Notice { .. }
        | Write::Fact(_)
        | Write::Open(_)
        | Write::Say { .. }
        | Write::Spend(_)
        | Write::Unreserve { .. } => None,
    })
}

/// Returns the first id that two questions of a batch share.
pub fn asked_twice(writes: &[Write]) -> Option<&str> {
    let ids: Vec<&str> = questions(writes).map(|asked| asked.id.as_str()).collect();
    let twice = |(n, id): (usize, &&str)| ids[..n].contains(id);
    let place = ids.iter().enumerate().position(twice)?;
    Some(ids[place])
}

/// Returns the error of a run that is skipped because another run of its skill is active.
pub fn in_the_way(other: &str) -> String {
    let message = format!("run `{other}` of this skill is still active");
    text(&Failure::new(FailureClass::Other, message))
}

/// Returns the error of a cancelled run.
pub fn cancelled_error(by: &str) -> String {
    let message = format!("cancelled by {by}");
    text(&Failure::new(FailureClass::Cancelled, message))
}

/// Returns the name of the canceller under `overlap: cancel_other`.
pub fn newer_run(run: &RunId) -> String {
    format!("run `{run}`")
}

fn text(failure: &Failure) -> String {
    // Two strings in a struct always serialize; the fallback only avoids a panic.
    serde_json::to_string(failure).unwrap_or_else(|_| "{}".to_owned())
}
