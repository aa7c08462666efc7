//! Backup and restoration of deleted items.
//!
//! A store exports the rows of an item as lines of text and imports such lines again. The caller keeps the
//! lines; only the store interprets them. Not here: deleting, and where the lines are kept.

use deft_model::RunId;

use crate::Answer;

/// An item about to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrashItem {
    /// Runs, with everything that [`Store::prune`](crate::Store::prune) deletes with them.
    Runs(Vec<RunId>),
    /// A skill, by its number.
    Skill(i64),
    /// A conversation, by its id, with its messages.
    Conversation(String),
}

/// Export and import of rows. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait Trash: Send + Sync {
    /// Returns the rows of an item as JSON lines; empty if the item does not exist.
    fn lines(&self, what: TrashItem) -> Answer<'_, Vec<String>>;

    /// Stores exported lines again. Returns the number of restored runs, skills and conversations. Items
    /// that exist stay as they are.
    fn restore(&self, lines: Vec<String>) -> Answer<'_, u64>;
}
