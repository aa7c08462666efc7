//! What people read about a skill.

/// The descriptive fields of a skill: people see them and find the skill by them; they do not decide how it
/// runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Its version, in its author's words.
    pub version: Option<String>,
    /// When it was written, in its author's words.
    pub created: Option<String>,
}
