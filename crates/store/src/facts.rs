//! Facts stored by agents, and settings of the engine.

use jiff::Timestamp;

use crate::Answer;

/// Facts. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait Facts: Send + Sync {
    /// Stores a fact, unless a fact of its category has the same text, ignoring the case of Latin letters.
    /// Returns the stored fact and whether it is new. Concurrent callers get the same fact.
    fn save_fact(&self, fact: NewFact) -> Answer<'_, (FactRow, bool)>;

    /// Deletes a fact. Returns whether it existed. Its number is never reused, so that a repeated call
    /// cannot delete a later fact.
    fn delete_fact(&self, id: i64) -> Answer<'_, bool>;

    /// Returns the facts that match, newest first.
    fn facts(&self, filter: FactFilter) -> Answer<'_, Vec<FactRow>>;
}

/// Named values of the engine. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait Settings: Send + Sync {
    /// Returns the value of a setting.
    fn setting(&self, name: &str) -> Answer<'_, Option<String>>;

    /// Stores the value of a setting.
    fn keep_setting(&self, name: &str, value: &str) -> Answer<'_, ()>;

    /// Stores the value of a setting if its value is still `before`, which is `None` for a setting without a
    /// value. Returns whether it was stored. So a caller that reads, changes and stores a value cannot undo a
    /// change that another process made in between.
    fn replace_setting(&self, name: &str, before: Option<&str>, value: &str) -> Answer<'_, bool>;
}

/// A fact to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFact {
    /// The agent that stores it.
    pub agent_id: String,
    /// The kind of fact, such as `error`.
    pub category: String,
    /// The text of the fact.
    pub text: String,
    /// Its source, such as a run.
    pub source: Option<String>,
    /// When it is stored.
    pub at: Timestamp,
}

/// A stored fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Its number.
    pub id: i64,
    /// The fact.
    pub fact: NewFact,
}

/// A filter for lists of facts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FactFilter {
    /// Only facts of this agent.
    pub agent_id: Option<String>,
    /// Only facts of this category.
    pub category: Option<String>,
    /// Only facts that contain this text.
    pub text: Option<String>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}
