//! Names of things.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// What a skill is called in commands, tools and listings: its dotted name
/// (`email.send`) or the name of its folder (`code-review`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SkillId(Arc<str>);

impl SkillId {
    /// Wraps an id that has been checked by whoever read it.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

// `str` and `SkillId` hash and compare alike, so a map keyed by ids can be
// asked with plain text.
impl Borrow<str> for SkillId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// The content hash of a skill: SHA-256 over all of its files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision([u8; 32]);

impl Revision {
    /// Wraps a digest.
    pub fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The first twelve hexadecimal digits, for people.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Revision({})", self.short())
    }
}
