//! The text of a skill.

use std::fmt;
use std::sync::Arc;

/// A piece of a skill's text, cheap to clone and shared between snapshots.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Text(Arc<str>);

impl Text {
    /// Whether there is nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.0.trim().is_empty()
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}
