//! Runs, events and everything else that must survive: the [`Store`] trait and its `SQLite` backend.
//!
//! A store knows rows, leases and transactions. It does not know what an event means, reads no
//! clock (instants come in as values) and publishes nothing. `deft-store-testkit` has the memory
//! store and the conformance suite that every backend passes.

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

/// The answer of a store, some time later.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The whole store: one trait per concern, and the two requests that concern all of them.
///
/// Each method is one transaction: all of it happened or none of it. Writes of different callers
/// may share a commit, but a bad write never takes others with it. A caller that drops an answer
/// without waiting for it does not know whether the request was applied. Instants are kept to the
/// microsecond.
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
    /// Deletes runs that are over, oldest first, with their events and questions, and expired
    /// cached results. Keys and slots of deleted runs stay taken for ever.
    fn prune(&self, wish: Prune) -> Answer<'_, PruneResult>;

    /// The way to bring deleted things back; none for a store that cannot.
    fn trash(&self) -> Option<&dyn Trash> {
        None
    }

    /// A number that changes with every write of any process.
    fn version(&self) -> Answer<'_, u64>;
}

/// Every trait of a store, for callers that know the type of their store. With `dyn Store` no
/// import is needed.
pub mod prelude {
    pub use crate::{
        Approvals as _, Conversations as _, Facts as _, Ledger as _, Outbox as _, Revisions as _,
        RunHistory as _, RunQueue as _, Settings as _, SkillSlots as _, Store as _,
        StoredSkills as _, ToolCache as _,
    };
}
