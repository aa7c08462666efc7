//! The field tables of man pages and domain indexes.

use super::{Field, Kind, TRIGGER, optional, required_field};

/// Frontmatter of a man page (S2.2, S2.3).
pub(crate) const MANPAGE: &[Field] = &[
    required_field("name", Kind::Text, "`domain.action`, the same as the path"),
    required_field("description", Kind::Text, "one line for listings"),
    optional(
        "handler",
        Kind::Text,
        "the tool or skill that runs the command",
    ),
    optional("schedule", Kind::Cron, "a cron expression"),
    optional(
        "trigger_config",
        Kind::Table(&[TRIGGER]),
        "when the skill fires",
    ),
    optional("required_tools", Kind::Texts, "tools that a run may use"),
    optional(
        "keywords",
        Kind::Texts,
        "keywords; a message that contains one activates the skill as a playbook",
    ),
    optional("license", Kind::Text, "the licence of the skill"),
];

/// Frontmatter of a domain index (S2.7).
pub(crate) const DOMAIN: &[Field] = &[
    required_field("domain", Kind::Text, "the domain"),
    required_field("description", Kind::Text, "one line for `get_skill`"),
    optional("tags", Kind::Texts, "search terms for the domain"),
];
