//! Facts that agents remember, and named values of the engine.

use jiff::Timestamp;

use crate::Answer;

/// Facts. See [`Store`](crate::Store) for what holds for every method.
pub trait Facts: Send + Sync {
    /// Stores a fact, unless a fact of its category has the same text but for the case of Latin
    /// letters. Returns the stored fact, and whether it is the new one. Concurrent callers get the
    /// same one.
    fn save_fact(&self, fact: NewFact) -> Answer<'_, (FactRow, bool)>;

    /// Deletes a fact. Returns whether it existed. Its number is never used again, so that a
    /// repeated call cannot delete a later fact.
    fn delete_fact(&self, id: i64) -> Answer<'_, bool>;

    /// Facts, newest first.
    fn facts(&self, filter: FactFilter) -> Answer<'_, Vec<FactRow>>;
}

/// Named values of the engine. See [`Store`](crate::Store) for what holds for every method.
pub trait Settings: Send + Sync {
    /// The value of a name.
    fn setting(&self, name: &str) -> Answer<'_, Option<String>>;

    /// Stores a value under a name.
    fn keep_setting(&self, name: &str, value: &str) -> Answer<'_, ()>;
}

/// A fact that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFact {
    /// Who keeps it.
    pub agent_id: String,
    /// The kind of fact, such as `error`.
    pub category: String,
    /// What is known.
    pub text: String,
    /// Where it comes from, such as a run.
    pub source: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Its number.
    pub id: i64,
    /// What is kept.
    pub fact: NewFact,
}

/// Which facts to list.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FactFilter {
    /// Of this agent.
    pub agent_id: Option<String>,
    /// Of this kind.
    pub category: Option<String>,
    /// That contain these words.
    pub text: Option<String>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}
