//! Where in a run something happens.
//!
//! A path is written `step`, `step[2]` for an item of a loop, and `outer/step` inside a nested
//! skill. `(outputs)` stands for what a skill returns. One that could begin only when its step was tried again says so: `outer~2/step`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The place of a step, an item or a nested step in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Path(String);

/// Stands in the place of a step; none can be called so.
const OUTPUTS: &str = "(outputs)";

impl Path {
    /// The path of what the skill below a prefix returns.
    pub(crate) fn of_outputs(prefix: &str) -> Self {
        Self::new(prefix, OUTPUTS, None)
    }

    /// True when it is what a skill returns, and not a step.
    pub fn is_outputs(&self) -> bool {
        self.0.ends_with(OUTPUTS)
    }

    /// The path of a step, or of one item of it, below a prefix such as `outer/`.
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

    /// Wraps a path that a machine has made.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path without the ordinals of attempts: the same call keeps its name when an outer
    /// step is tried again.
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

    /// Where the skill stands that the step is a part of: nothing for the skill of the run, `outer/`
    /// for one that the step `outer` runs.
    pub fn skill(&self) -> &str {
        self.parts().0
    }

    /// The step of the run itself that it belongs to.
    pub(crate) fn first(&self) -> &str {
        self.0.split(['/', '[', '~']).next().unwrap_or(&self.0)
    }

    /// Prefix, step id and item.
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
    fn paths_come_apart_as_they_were_put_together() {
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
    fn a_call_keeps_its_name_over_attempts() {
        let path = Path::from_text("a~2/b[1]~3/c");
        assert_eq!(path.without_attempts(), "a/b[1]/c");
    }
}
