//! Deleted things that can come back.
//!
//! A store gives the rows of a thing as lines of text and takes such lines again. The caller keeps the
//! lines; their content is the store's own affair. Not here: deleting, and where the lines are kept.

use deft_model::RunId;

use crate::Answer;

/// What is about to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrashItem {
    /// Runs with all that [`Store::prune`](crate::Store::prune) deletes with them.
    Runs(Vec<RunId>),
    /// A skill by its number.
    Skill(i64),
    /// A conversation by its id, with its messages.
    Conversation(String),
}

/// Rows that leave a store and come back. See [`Store`](crate::Store) for what holds for every method.
pub trait Trash: Send + Sync {
    /// The rows of a thing as JSON lines; none if it does not exist.
    fn lines(&self, what: TrashItem) -> Answer<'_, Vec<String>>;

    /// Stores such lines again. Returns how many runs, skills and conversations came back; one that
    /// exists stays as it is.
    fn restore(&self, lines: Vec<String>) -> Answer<'_, u64>;
}
