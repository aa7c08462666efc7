//! One entry of a list that a model is shown.

use std::sync::Arc;

/// An entry in the form in which it stands in a prompt. The crate that knows the thing writes
/// the form; the prompt only decides which entries there is room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptEntry {
    /// What the model may pass to use it.
    pub name: Arc<str>,
    /// What it is for, to compare with what is asked.
    pub about: Arc<str>,
    /// The lines of the prompt, with the end of the last one.
    pub text: Arc<str>,
    /// Which of two comes first when there is no room for both.
    pub priority: i64,
}
