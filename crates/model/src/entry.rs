//! Entries of the lists in a prompt.

use std::sync::Arc;

/// An entry of a list in a prompt, already rendered. The crate that owns the listed thing renders it; the
/// prompt only selects the entries that fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptEntry {
    /// The name that the model passes to use the entry.
    pub name: Arc<str>,
    /// The description, compared with the user's message when entries are selected.
    pub about: Arc<str>,
    /// The rendered lines, including the final line break.
    pub text: Arc<str>,
    /// Decides which entry is kept if not all fit; higher first.
    pub priority: i64,
}
