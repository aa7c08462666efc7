//! What every backend does alike: fresh rows, and the few errors of runs that a store writes itself.
//!
//! Everything else that stands in the `error` of a run comes from whoever drove it. The rules of
//! state are not here: each backend has its own, and the conformance suite compares them.

use deft_model::{Failure, FailureClass, RunId, RunStatus};
use jiff::Timestamp;

use crate::{Admission, NewApproval, RunRow, Write};

impl RunRow {
    /// A run that has just been asked for.
    pub(crate) fn queued(run: &Admission) -> Self {
        Self {
            id: run.run.clone(),
            skill: run.skill.clone(),
            revision: run.revision.clone(),
            tier: run.tier.clone(),
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

    /// Leaves what is still known of a run that was deleted.
    pub(crate) fn empty(&mut self) {
        self.outputs = None;
        self.error = None;
        self.usage = None;
        self.cancel_by = None;
    }
}

/// The questions among the writes of a batch.
pub(crate) fn questions(writes: &[Write]) -> impl Iterator<Item = &NewApproval> {
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

/// The first question whose id another one of the same batch has too.
pub(crate) fn asked_twice(writes: &[Write]) -> Option<&str> {
    let ids: Vec<&str> = questions(writes).map(|asked| asked.id.as_str()).collect();
    let twice = |(n, id): (usize, &&str)| ids[..n].contains(id);
    let place = ids.iter().enumerate().position(twice)?;
    Some(ids[place])
}

/// The earlier of two instants, of which either may be missing.
pub(crate) fn earlier(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Why a run never began: another one of the skill is active.
pub(crate) fn in_the_way(other: &str) -> String {
    let message = format!("run `{other}` of this skill is still going");
    text(&Failure::new(FailureClass::Other, message))
}

/// Why a run ended before its time.
pub(crate) fn cancelled(by: &str) -> String {
    let message = format!("cancelled by {by}");
    text(&Failure::new(FailureClass::Cancelled, message))
}

/// Who stops a run under `overlap: cancel_other`.
pub(crate) fn newer_run(run: &RunId) -> String {
    format!("run `{run}`")
}

fn text(failure: &Failure) -> String {
    // Two strings in a struct always serialize; the fallback keeps the promise without a panic.
    serde_json::to_string(failure).unwrap_or_else(|_| "{}".to_owned())
}
