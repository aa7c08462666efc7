//! Python for the worker, and the names that it mentions.

use deft_model::Object;
use jiff::Timestamp;

/// Python to be run for a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The source.
    pub source: String,
    /// The names it mentions.
    pub scope: Object,
    /// Those of them that are None because their step was skipped.
    pub skipped: Vec<String>,
    /// The recorded start of the step (X17).
    pub now: Timestamp,
}

/// True when a name stands in a text as a word of its own.
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
