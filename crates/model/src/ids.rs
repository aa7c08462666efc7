//! Ids, digests and revisions.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// The agent that a skill belongs to if it names none, and the default of the setting `agent.default`.
pub const DEFAULT_AGENT: &str = "thinker";

/// The name of a skill in commands, tools and listings: a dotted name (`email.send`) or the name of its
/// folder (`code-review`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SkillId(Arc<str>);

impl SkillId {
    /// Wraps an id that the caller has validated.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

// `str` and `SkillId` hash and compare alike, so a map keyed by ids can be queried with plain text.
impl Borrow<str> for SkillId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the SHA-256 of `bytes`.
    pub fn sha256(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Wraps the bytes of a digest.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every run writes the revision of its skill; one formatter call per byte would be 32 calls.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits
            .map(|digit| char::from(DIGITS[usize::from(digit)]))
            .collect();
        f.write_str(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The content hash of a skill: a digest over all of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(Digest);

impl Revision {
    /// Wraps the digest over a skill's files.
    pub fn new(digest: Digest) -> Self {
        Self(digest)
    }

    /// Parses the output of `Display`: 64 hexadecimal digits. Returns `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() {
            return None;
        }
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * place..2 * place + 2)?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(Digest(bytes)))
    }

    /// Returns the first twelve hexadecimal digits, for display.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
