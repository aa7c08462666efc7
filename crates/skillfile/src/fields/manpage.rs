//! The field tables of man pages and domain indexes.

use super::{Field, Kind, TRIGGER, optional, required};

/// Frontmatter of a man page (S2.2, S2.3).
pub(crate) const MANPAGE: &[Field] = &[
    required("name", Kind::Text, "`domain.action`, the same as the path"),
    required("description", Kind::Text, "one line for listings"),
    optional("handler", Kind::Text, "the code behind the command"),
    optional("schedule", Kind::Cron, "a cron expression"),
    optional(
        "trigger_config",
        Kind::Table(&[TRIGGER]),
        "when the skill fires by itself",
    ),
    optional(
        "required_tools",
        Kind::Texts,
        "the only tools a run may use",
    ),
    optional(
        "keywords",
        Kind::Texts,
        "words in a message that call for it",
    ),
    optional("license", Kind::Text, "the licence of the skill"),
];

/// Frontmatter of a domain index (S2.7).
pub(crate) const DOMAIN: &[Field] = &[
    required("domain", Kind::Text, "the domain"),
    required("description", Kind::Text, "one line for `get_skill`"),
    optional("tags", Kind::Texts, "words to find the domain by"),
];
