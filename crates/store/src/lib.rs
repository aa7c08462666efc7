//! Storage of runs, events, skills and everything else that must survive a restart: the [`Store`] trait and
//! its `SQLite` backend.
//!
//! A store handles rows, leases and transactions. It does not interpret events, reads no clock (instants are
//! passed in as values) and publishes nothing. `deft-store-testkit` contains the in-memory store and the
//! conformance suite that every backend must pass.

mod approvals;
pub mod backend;
mod conversations;
mod error;
mod facts;
mod figures;
mod ledger;
mod outbox;
mod revisions;
mod rows;
mod runs;
mod skills;
mod spend_scope;
mod sqlite;
mod trash;
mod words;

use std::future::Future;
use std::pin::Pin;

use deft_model::RunId;

pub use approvals::Approvals;
pub use conversations::*;
pub use error::{Error, FileChange};
pub use facts::*;
pub use figures::{OutcomeCount, UsedRevision};
pub use ledger::{
    Estimate, Ledger, Limit, Refusal, ReservationResult, Reserve, Spend, SpentFilter, SpentRow,
    UsageRow, bucket, run_scope,
};
pub use outbox::*;
pub use revisions::{Revisions, ToolCache};
pub use rows::*;
pub use runs::{AppendResult, PAUSES, RunHistory, RunQueue};
pub use skills::*;
pub use spend_scope::SpendScope;
pub use sqlite::{Sqlite, SqliteOptions, on_own_thread};
pub use trash::{Trash, TrashItem};

/// The future returned by every method of a store.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The whole store: one trait per concern, plus the requests that concern all of them.
///
/// Each method is one transaction and is applied in full or not at all. Writes of different callers may
/// share a commit, but a failed write never affects the others. If a caller drops the future without
/// awaiting it, the request may or may not have been applied. Instants are stored with microsecond
/// precision.
pub trait Store:
    RunQueue
    + RunHistory
    + Approvals
    + Revisions
    + ToolCache
    + StoredSkills
    + SkillSlots
    + Outbox
    + Facts
    + Settings
    + Conversations
    + Ledger
    + 'static
{
    /// Deletes finished runs, oldest first, with their events and questions, and expired cached results. The
    /// keys and slots of deleted runs stay reserved for ever.
    fn prune(&self, request: Prune) -> Answer<'_, PruneResult>;

    /// Deletes the runs of a list as [`prune`](Self::prune) does, except those that have not finished or whose notices
    /// are not delivered. Returns the deleted ones, in the order of the list.
    fn prune_runs(&self, runs: Vec<RunId>) -> Answer<'_, PruneResult>;

    /// Returns the interface for restoring deleted items, or `None` if the store does not support it.
    fn trash(&self) -> Option<&dyn Trash> {
        None
    }

    /// Returns a number that changes with every write of any process.
    fn version(&self) -> Answer<'_, u64>;
}

/// All traits of a store, for callers that use a concrete store type. With `dyn Store` no import is needed.
pub mod prelude {
    pub use crate::{
        Approvals as _, Conversations as _, Facts as _, Ledger as _, Outbox as _, Revisions as _,
        RunHistory as _, RunQueue as _, Settings as _, SkillSlots as _, Store as _,
        StoredSkills as _, ToolCache as _,
    };
}
