//! Paths: the positions of steps in a run.
//!
//! A path is written `step`, `step[2]` for an item of a loop, and `outer/step` inside a nested skill.
//! `(outputs)` stands for the outputs of a skill. `outer~2/step` is a step of a nested skill that began only
//! at the second attempt of `outer`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The path of a step, an item or a nested step in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(String);

/// The name of outputs in a path; no step can have this name.
const OUTPUTS: &str = "(outputs)";

impl Path {
    /// Returns the path of the outputs of the skill below a prefix.
    pub(crate) fn of_outputs(prefix: &str) -> Self {
        Self::new(prefix, OUTPUTS, None)
    }

    /// Whether it is the path of a skill's outputs, and not of a step.
    pub fn is_outputs(&self) -> bool {
        self.0.ends_with(OUTPUTS)
    }

    /// Creates the path of a step, or of one item of it, below a prefix such as `outer/`.
    pub(crate) fn new(prefix: &str, step: &str, item: Option<usize>) -> Self {
        let mut text = String::with_capacity(prefix.len() + step.len() + 6);
        text.push_str(prefix);
        text.push_str(step);
        if let Some(item) = item {
            text.push('[');
            text.push_str(&item.to_string());
            text.push(']');
        }
        Self(text)
    }

    /// Wraps the text of a path that a machine made.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path without the numbers of attempts, so that a call keeps its key when an outer step is
    /// tried again.
    pub fn without_attempts(&self) -> String {
        if !self.0.contains('~') {
            return self.0.clone();
        }
        self.0
            .split('/')
            .map(|part| part.split('~').next().unwrap_or(part))
            .collect::<Vec<_>>()
            .join("/")
    }

    /// Returns the path of the skill that the step belongs to: empty for the skill of the run, `outer/` for a
    /// skill that the step `outer` runs.
    pub fn skill(&self) -> &str {
        self.parts().0
    }

    /// Returns the id of the outermost step.
    pub(crate) fn first(&self) -> &str {
        self.0.split(['/', '[', '~']).next().unwrap_or(&self.0)
    }

    /// Splits the path into prefix, step id and item.
    pub(crate) fn parts(&self) -> (&str, &str, Option<usize>) {
        let split = self.0.rfind('/').map_or(0, |at| at + 1);
        let (prefix, last) = self.0.split_at(split);
        let item = last
            .strip_suffix(']')
            .and_then(|last| last.rsplit_once('['))
            .and_then(|(step, item)| Some((step, item.parse().ok()?)));
        match item {
            Some((step, item)) => (prefix, step, Some(item)),
            None => (prefix, last, None),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn paths_round_trip() {
        for (prefix, step, item, text) in [
            ("", "get_issue", None, "get_issue"),
            ("", "update", Some(12), "update[12]"),
            ("deploy[3]~2/", "build", None, "deploy[3]~2/build"),
        ] {
            let path = Path::new(prefix, step, item);
            assert_eq!(path.as_str(), text);
            assert_eq!(path.parts(), (prefix, step, item));
        }
    }

    #[test]
    fn a_call_keeps_its_key_across_attempts() {
        let path = Path::from_text("a~2/b[1]~3/c");
        assert_eq!(path.without_attempts(), "a/b[1]/c");
    }
}
