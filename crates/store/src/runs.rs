//! Traits for runs: the queue that drivers take work from, and the history for readers.

use deft_model::{RunId, WaitKind};
use jiff::{SignedDuration, Timestamp};

use crate::figures::{count_outcomes, count_revisions};
use crate::{
    Admission, AdmissionResult, Answer, Batch, CancelState, Claim, ClaimedRun, Lease, NewEvent,
    OutcomeCount, PageEnd, RunFilter, RunPage, RunRow, StoredEvent, UsedRevision,
};

/// Runs that are queued, driven or parked, and their leases. See [`Store`](crate::Store) for the rules that
/// all methods follow.
pub trait RunQueue: Send + Sync {
    /// Inserts a run under its key and slot, and applies the overlap rule. If the run is for a slot of a
    /// stored skill, the skill moves to its next slot in the same transaction.
    ///
    /// A run is active until it is done. Under `skip`, the new run ends at once if another run of the skill
    /// is active. Under `cancel_other`, the active runs are cancelled. Unless the rule is `allow`, a run is
    /// due only when it is the first of the active runs. A cancelled run without a driver ends at once, with
    /// the closing events of the new run.
    fn admit(&self, run: Admission) -> Answer<'_, AdmissionResult>;

    /// Grants the lease of the oldest run that is due and within its limits.
    ///
    /// Due are queued runs, and parked runs whose wake instant has passed. Parked runs do not count against
    /// limits.
    fn claim(&self, request: Claim) -> Answer<'_, Option<ClaimedRun>>;

    /// Stores a batch of the run, if the lease is still valid.
    ///
    /// If an answer or a cancel request arrived since the run was claimed, parking makes it due at once.
    /// Finishing closes the open questions of the run and stores in its row the sum spent in its
    /// [scope](crate::run_scope).
    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, AppendResult>;

    /// Extends every lease of an owner until `until`. Returns the owner's runs with a cancel request.
    fn renew(&self, owner: &str, until: Timestamp) -> Answer<'_, Vec<RunId>>;

    /// Makes running runs due again if their owner is dead or their lease expired before `now`. Returns
    /// them.
    fn release(&self, dead: Vec<String>, now: Timestamp) -> Answer<'_, Vec<RunId>>;

    /// Returns the owners that currently hold leases.
    fn owners(&self) -> Answer<'_, Vec<String>>;

    /// Requests the cancellation of a run. A run without a driver ends at once.
    fn cancel(&self, run: &RunId, by: &str, at: Timestamp) -> Answer<'_, CancelState> {
        self.cancel_with(run, by, at, Vec::new())
    }

    /// Requests the cancellation of a run. If it ends at once, `closing` are its last events.
    fn cancel_with(
        &self,
        run: &RunId,
        by: &str,
        at: Timestamp,
        closing: Vec<NewEvent>,
    ) -> Answer<'_, CancelState>;

    /// Makes a finished run due again, with an event that gives the reason. Clears its outcome but keeps its
    /// finish ordinal, and queues it behind the active runs of its skill. Returns `None` if the run is
    /// unknown.
    fn reopen(&self, run: &RunId, event: NewEvent) -> Answer<'_, Option<RunRow>>;

    /// Returns when the next parked run is due.
    fn next_wake(&self) -> Answer<'_, Option<Timestamp>>;

    /// Returns the number of running runs, of all processes, that were admitted more than `late` after their
    /// slot.
    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64>;

    /// Makes parked runs due that wait for `kind`; with `run`, only that run. Returns how many.
    fn wake(&self, kind: WaitKind, run: Option<&RunId>, at: Timestamp) -> Answer<'_, u64>;

    /// Holds a skill, so that its runs cannot be claimed, or releases it.
    fn hold(&self, skill: &str, held: bool, at: Timestamp) -> Answer<'_, ()>;

    /// Returns since when a skill is held.
    fn held_since(&self, skill: &str) -> Answer<'_, Option<Timestamp>>;
}

/// The kinds of events that mark a pause of a run: a person was asked, a process ended, the run was resumed.
pub const PAUSES: [&str; 3] = ["asked", "recovered", "resumed"];

/// Rows and events of runs, for reading. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait RunHistory: Send + Sync {
    /// Returns a run by its full id.
    fn run(&self, id: &RunId) -> Answer<'_, Option<RunRow>>;

    /// Returns runs in reverse order of admission, even if the clocks of the admitting processes disagree.
    fn runs(&self, filter: RunFilter) -> Answer<'_, Vec<RunRow>> {
        let page = self.run_page(filter, None);
        Box::pin(async { Ok(page.await?.runs) })
    }

    /// Returns runs in the order of [`runs`](Self::runs), starting after the end of an earlier page. The
    /// limit of the filter is the length of a page.
    fn run_page(&self, filter: RunFilter, after: Option<PageEnd>) -> Answer<'_, RunPage>;

    /// Returns the number of runs that match; the limit is ignored.
    fn count_runs(&self, filter: RunFilter) -> Answer<'_, u64>;

    /// Counts the outcomes of runs that were admitted at or after `since`.
    fn outcomes(&self, since: Timestamp) -> Answer<'_, Vec<OutcomeCount>> {
        let filter = RunFilter {
            since: Some(since),
            ..RunFilter::default()
        };
        let runs = self.runs(filter);
        Box::pin(async { Ok(count_outcomes(&runs.await?)) })
    }

    /// Returns the revisions of a skill that runs used, latest first.
    fn used_revisions(&self, skill: &str) -> Answer<'_, Vec<UsedRevision>> {
        let filter = RunFilter {
            skill: Some(skill.to_owned()),
            ..RunFilter::default()
        };
        let runs = self.runs(filter);
        Box::pin(async { Ok(count_revisions(&runs.await?)) })
    }

    /// Returns the sequence number of the newest event ever stored, or 0 before the first one.
    fn newest_event(&self) -> Answer<'_, u64>;

    /// Returns those of `runs` that have an event of a kind in [`PAUSES`].
    fn paused_runs(&self, runs: Vec<RunId>) -> Answer<'_, Vec<RunId>>;

    /// Returns events with a sequence number above `after`, of one run or of all, oldest first.
    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>>;
}

/// The result of [`RunQueue::append`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResult {
    /// The sequence number of the first event; the others follow without gaps. 0 without events.
    pub first_seq: u64,
    /// Who requested the cancellation of the run.
    pub cancel_by: Option<String>,
    /// The usage stored in the row of a run that ended with this batch.
    pub usage: Option<String>,
}
