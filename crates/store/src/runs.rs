//! Traits for runs: the queue that drivers work on, and the history that people read.

use deft_model::{RunId, WaitKind};
use jiff::{SignedDuration, Timestamp};

use crate::figures::{count_outcomes, count_revisions};
use crate::{
    Admission, AdmissionResult, Answer, Batch, CancelState, Claim, ClaimedRun, Lease, NewEvent,
    OutcomeCount, PageEnd, RunFilter, RunPage, RunRow, StoredEvent, UsedRevision,
};

/// Runs that are queued, driven or parked, and the leases on them. See [`Store`](crate::Store) for
/// what holds for every method.
pub trait RunQueue: Send + Sync {
    /// Inserts a run under its key and slot, and applies the overlap rule. If the run answers to a
    /// slot of a stored skill, the skill moves on to its next slot in the same transaction.
    ///
    /// A run is active until it is done. Under `skip` the new run ends at once if another run of
    /// the skill is active; under `cancel_other` the active runs are cancelled; unless `allow`, a
    /// run is due only when it is the first of the active runs. A cancelled run without a driver is
    /// over at once, with the closing events of the new run.
    fn admit(&self, run: Admission) -> Answer<'_, AdmissionResult>;

    /// Gives the lease of the oldest run that is due and within its limits.
    ///
    /// Queued runs are due, and runs whose wake instant has passed. Parked runs do not count
    /// against limits.
    fn claim(&self, wish: Claim) -> Answer<'_, Option<ClaimedRun>>;

    /// Stores a batch of the run, if the lease is still valid.
    ///
    /// A run that parks although an answer or a cancel request arrived since it was claimed is due
    /// at once. A run that finishes closes its open questions, and its row gets the sum spent in
    /// its [scope](crate::run_scope).
    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, AppendResult>;

    /// Extends every lease of an owner until `until`. Returns the runs that have a cancel request.
    fn renew(&self, owner: &str, until: Timestamp) -> Answer<'_, Vec<RunId>>;

    /// Makes running runs due again whose owner is dead, or whose lease expired before `now`.
    fn release(&self, dead: Vec<String>, now: Timestamp) -> Answer<'_, Vec<RunId>>;

    /// Owners that hold leases now.
    fn owners(&self) -> Answer<'_, Vec<String>>;

    /// Asks a run to stop. A run without a driver is over at once.
    fn cancel(&self, run: &RunId, by: &str, at: Timestamp) -> Answer<'_, CancelState> {
        self.cancel_with(run, by, at, Vec::new())
    }

    /// Asks a run to stop; `closing` are its last events if it is over at once.
    fn cancel_with(
        &self,
        run: &RunId,
        by: &str,
        at: Timestamp,
        closing: Vec<NewEvent>,
    ) -> Answer<'_, CancelState>;

    /// Makes a finished run due again, with an event that says why. Its outcome is cleared except
    /// for the ordinal, and it queues behind the active runs of its skill.
    fn reopen(&self, run: &RunId, event: NewEvent) -> Answer<'_, Option<RunRow>>;

    /// When the next parked run is due.
    fn next_wake(&self) -> Answer<'_, Option<Timestamp>>;

    /// How many running runs, of all processes, were admitted later than this after their slot.
    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64>;

    /// Makes parked runs due that wait for this kind of thing, or only those with the same reason if
    /// one is given. Returns how many.
    fn wake(&self, kind: WaitKind, reason: Option<&str>, at: Timestamp) -> Answer<'_, u64>;

    /// Stops runs of a skill from being claimed, or allows them again.
    fn hold(&self, skill: &str, held: bool, at: Timestamp) -> Answer<'_, ()>;

    /// Since when the runs of a skill are held.
    fn held(&self, skill: &str) -> Answer<'_, Option<Timestamp>>;
}

/// The kinds of the events that say how long a run did not work: a person was asked, a process ended, a run was
/// resumed.
pub const PAUSES: [&str; 3] = ["asked", "recovered", "resumed"];

/// Rows and events of runs, for reading. See [`Store`](crate::Store) for what holds for every
/// method.
pub trait RunHistory: Send + Sync {
    /// A run by its full id.
    fn run(&self, id: &RunId) -> Answer<'_, Option<RunRow>>;

    /// Runs in reverse order of admission, even if the clocks of the admitting processes disagree.
    fn runs(&self, filter: RunFilter) -> Answer<'_, Vec<RunRow>> {
        let page = self.run_page(filter, None);
        Box::pin(async { Ok(page.await?.runs) })
    }

    /// Runs in the same order, starting after the end of an earlier page. The limit of the filter
    /// is the length of a page.
    fn run_page(&self, filter: RunFilter, after: Option<PageEnd>) -> Answer<'_, RunPage>;

    /// How many runs match; the limit is ignored.
    fn count_runs(&self, filter: RunFilter) -> Answer<'_, u64>;

    /// How many runs that were admitted at or after an instant ended how.
    fn outcomes(&self, since: Timestamp) -> Answer<'_, Vec<OutcomeCount>> {
        let filter = RunFilter {
            since: Some(since),
            ..RunFilter::default()
        };
        let runs = self.runs(filter);
        Box::pin(async { Ok(count_outcomes(&runs.await?)) })
    }

    /// The revisions of a skill that runs used, the latest first.
    fn used_revisions(&self, skill: &str) -> Answer<'_, Vec<UsedRevision>> {
        let filter = RunFilter {
            skill: Some(skill.to_owned()),
            ..RunFilter::default()
        };
        let runs = self.runs(filter);
        Box::pin(async { Ok(count_revisions(&runs.await?)) })
    }

    /// The sequence number of the newest event that was ever stored; 0 before the first one.
    fn newest_event(&self) -> Answer<'_, u64>;

    /// Those of some runs that have an event of the kinds of [`PAUSES`].
    fn paused_runs(&self, runs: Vec<RunId>) -> Answer<'_, Vec<RunId>>;

    /// Events after a sequence number, of one run or of all, oldest first.
    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>>;
}

/// The answer to [`RunQueue::append`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendResult {
    /// The sequence number of the first event; the others follow without a gap. 0 without events.
    pub first_seq: u64,
    /// Who asked the run to stop.
    pub cancel_by: Option<String>,
    /// What models used for a run that ended with this batch, as its row says it.
    pub usage: Option<String>,
}
