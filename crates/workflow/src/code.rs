//! Python code for the worker, with the names that it mentions.

use deft_model::Object;
use jiff::Timestamp;

/// Python code to run for a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The source.
    pub source: String,
    /// The names that the source mentions, with their values.
    pub scope: Object,
    /// The names in `scope` that are None because their step was skipped.
    pub skipped: Vec<String>,
    /// The recorded start of the step (X17).
    pub now: Timestamp,
}

/// Whether `code` contains `name` as a whole word.
pub(crate) fn mentions(code: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let behind = code[at + name.len()..].chars().next();
        !before.is_some_and(word) && !behind.is_some_and(word)
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn names_are_mentioned_as_words() {
        assert!(mentions("len(pods) > 0", "pods"));
        assert!(mentions("f'{pods}'", "pods"));
        assert!(!mentions("my_pods + pods2", "pods"));
    }
}
