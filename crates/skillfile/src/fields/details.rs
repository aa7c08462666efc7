//! The descriptive fields of a skill, which every dialect has.

use super::{Field, Kind, optional};

/// Keys for listings and people.
pub(crate) const DETAILS: &[Field] = &[
    optional("tags", Kind::Texts, "words to find the skill by"),
    optional("author", Kind::Text, "who wrote it"),
    optional("version", Kind::Text, "its version, in its author's words"),
    optional("created", Kind::Text, "when it was written"),
];
