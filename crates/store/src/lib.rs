//! Runs, events and everything else that must survive: the [`Store`] trait and its backends.
//!
//! A store knows rows, leases and transactions. It does not know what an event means, reads no
//! clock (instants come in as values) and publishes nothing. The same conformance suite runs over
//! every backend.

mod common;
#[cfg(feature = "conformance")]
pub mod conformance;
mod conversations;
mod error;
mod ledger;
mod memory;
mod outbox;
mod records;
mod rows;
mod sqlite;
mod words;

use std::future::Future;
use std::pin::Pin;

use deft_model::RunId;
use jiff::{SignedDuration, Timestamp};

pub use conversations::*;
pub use error::{Error, FileChange};
pub use ledger::{
    Estimate, Ledger, Limit, Refusal, Reserve, Reserved, Spend, SpentFilter, SpentRow, UsageRow,
    bucket, run_scope,
};
pub use memory::Memory;
pub use outbox::*;
pub use records::*;
pub use rows::*;
pub use sqlite::{Sqlite, SqliteOptions};

/// The answer of a store, some time later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Where runs are kept.
///
/// Each method is one transaction: all of it happened or none of it. Writes of different callers
/// may share a commit, yet a bad one never takes others with it. Whoever drops an answer without
/// waiting for it does not know whether it happened. Instants are kept to the microsecond.
pub trait Store: Records + Outbox + Conversations + Ledger + Send + Sync + 'static {
    /// Inserts a run under its key and slot, and applies the overlap rule. If it answers to a slot
    /// of a stored skill, the skill moves on to its next slot in the same transaction.
    ///
    /// A run is active until it is done. Under `skip` the new one ends at once if another one of
    /// the skill is active; under `cancel_other` active ones are cancelled; unless `allow`, a run
    /// is due only when it is the first of the active ones. One that is cancelled while nobody
    /// drives it is over, with the closing events of the new one.
    fn admit(&self, run: Admission) -> Answer<'_, Admitted>;

    /// Gives the lease of the oldest run that is due and within its limits.
    ///
    /// Due is what is queued, and what waits for an instant that has come. Parked runs do not
    /// count against limits.
    fn claim(&self, wish: Claim) -> Answer<'_, Option<Claimed>>;

    /// Stores a batch of the run, if the lease still holds.
    ///
    /// A run that parks although an answer or a wish to stop arrived since it was claimed is due
    /// at once. One that finishes closes its open questions, and its row says what was spent in its
    /// [scope](run_scope).
    fn append(&self, lease: &Lease, batch: Batch) -> Answer<'_, Appended>;

    /// Lets every lease of an owner hold until then. Says which runs somebody wants stopped.
    fn renew(&self, owner: &str, until: Timestamp) -> Answer<'_, Vec<RunId>>;

    /// Makes running runs due again whose owner is dead, or whose lease ran out before `now`.
    fn release(&self, dead: Vec<String>, now: Timestamp) -> Answer<'_, Vec<RunId>>;

    /// Owners that hold leases now.
    fn owners(&self) -> Answer<'_, Vec<String>>;

    /// Asks a run to stop. One that nobody drives is over at once.
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

    /// Makes a finished run due again, with an event that says why. Nothing is left of its end but
    /// the ordinal, and it queues behind the runs of its skill that are active now.
    fn reopen(&self, run: &RunId, event: NewEvent) -> Answer<'_, Option<RunRow>>;

    /// Answers a question; the first answer counts and makes the run due.
    fn decide(&self, approval: &str, decision: Decision) -> Answer<'_, Decided>;

    /// Questions, the oldest first; only open ones unless told otherwise.
    fn approvals(&self, all: bool) -> Answer<'_, Vec<ApprovalRow>>;

    /// One question by its name, answered or not.
    fn approval(&self, id: &str) -> Answer<'_, Option<ApprovalRow>>;

    /// Keeps a standing permission.
    fn grant(&self, grant: Grant) -> Answer<'_, ()>;

    /// All standing permissions of a skill.
    fn grants(&self, skill: &str) -> Answer<'_, Vec<Grant>>;

    /// All standing permissions, the oldest first.
    fn all_grants(&self) -> Answer<'_, Vec<Grant>>;

    /// Takes a standing permission back. Says whether there was one.
    fn revoke(&self, grant: &str) -> Answer<'_, bool>;

    /// A run by its full id.
    fn run(&self, id: &RunId) -> Answer<'_, Option<RunRow>>;

    /// Runs, the one that was admitted last first, whatever the clocks of those who admit say.
    fn runs(&self, filter: RunFilter) -> Answer<'_, Vec<RunRow>> {
        let page = self.run_page(filter, None);
        Box::pin(async { Ok(page.await?.runs) })
    }

    /// Runs in the same order, those that come after the end of an earlier page. The limit of the
    /// filter is the length of a page.
    fn run_page(&self, filter: RunFilter, after: Option<PageEnd>) -> Answer<'_, RunPage>;

    /// How many runs fit; the limit does not count.
    fn count_runs(&self, filter: RunFilter) -> Answer<'_, u64>;

    /// Events after a sequence number, of one run or of all, oldest first.
    fn events(&self, run: Option<&RunId>, after: u64, limit: u32) -> Answer<'_, Vec<StoredEvent>>;

    /// Keeps the content of a revision; the same revision is kept once.
    fn keep_revision(&self, revision: &str, content: &str) -> Answer<'_, ()> {
        self.keep_revisions(vec![(revision.to_owned(), content.to_owned())])
    }

    /// Keeps the contents of several revisions in one transaction.
    fn keep_revisions(&self, revisions: Vec<(String, String)>) -> Answer<'_, ()>;

    /// The content of a revision.
    fn revision(&self, revision: &str) -> Answer<'_, Option<String>>;

    /// Remembers what these files define, with the contents of their revisions, and forgets the
    /// paths of files that are gone, in one transaction.
    fn keep_good_files(&self, files: Vec<(GoodFile, String)>, gone: Vec<String>) -> Answer<'_, ()>;

    /// What each file defined when it could last be read, by path.
    fn good_files(&self) -> Answer<'_, Vec<GoodFile>>;

    /// A cached result that is still good.
    fn cached(&self, key: &str, now: Timestamp) -> Answer<'_, Option<String>>;

    /// Remembers what a server offered last.
    fn keep_catalog(&self, server: &str, tools: &str, at: Timestamp) -> Answer<'_, ()>;

    /// Forgets a server.
    fn drop_catalog(&self, server: &str) -> Answer<'_, ()>;

    /// What every server offered last: name, JSON, when.
    fn catalogs(&self) -> Answer<'_, Vec<(String, String, Timestamp)>>;

    /// When the next parked run is due.
    fn next_wake(&self) -> Answer<'_, Option<Timestamp>>;

    /// How many runs are being driven, by anybody, whose slot was older than this when they were
    /// admitted.
    fn late_running(&self, late: SignedDuration) -> Answer<'_, u64>;

    /// Makes parked runs due whose `waiting_for` begins so. Says how many.
    fn wake(&self, waiting_for: &str, at: Timestamp) -> Answer<'_, u64>;

    /// Deletes runs that are over, the oldest first, with their events and questions, and cached
    /// results that are too old. Keys and slots of deleted runs stay taken for ever.
    fn prune(&self, wish: Prune) -> Answer<'_, Pruned>;

    /// A number that changes when anybody, in any process, has written.
    fn version(&self) -> Answer<'_, u64>;
}

/// The answer to [`Store::append`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The sequence number of the first event, the others follow without a gap; 0 without events.
    pub first_seq: u64,
    /// Who wants the run to stop, if anybody does.
    pub cancel_by: Option<String>,
    /// What models took for a run that has ended with this batch, as its row says it.
    pub usage: Option<String>,
}
