//! The field tables of a `SKILL.md` in the open agentskills format.

use super::{DETAILS, Field, Kind, POLICY, TRIGGER, optional, required_field};

/// Frontmatter of a `SKILL.md` in the open agentskills format.
pub(crate) const OPEN: &[Field] = &[
    required_field(
        "name",
        Kind::Text,
        "lower-case letters, digits and hyphens; the same as the folder",
    ),
    required_field(
        "description",
        Kind::Text,
        "what the skill does and when to use it, at most 1024 characters",
    ),
    optional("license", Kind::Text, "the licence of the skill"),
    optional(
        "compatibility",
        Kind::Text,
        "requirements of the skill, at most 500 characters",
    ),
    optional(
        "allowed-tools",
        Kind::Any,
        "tools the skill may use without asking, separated by spaces",
    ),
    optional(
        "metadata",
        Kind::Open(&[METADATA, POLICY, DETAILS]),
        "everything deft adds to the open format",
    ),
];

/// deft's keys below `metadata` of a `SKILL.md` (S0.10).
pub(crate) const METADATA: &[Field] = &[
    optional(
        "keywords",
        Kind::Texts,
        "keywords; a message that contains one activates the skill as a playbook",
    ),
    optional(
        "priority",
        Kind::Integer,
        "which of several matching playbooks comes first; higher wins",
    ),
    optional("required_tools", Kind::Texts, "tools that a run may use"),
    optional("schedule", Kind::Cron, "a cron expression"),
    optional(
        "trigger_config",
        Kind::Table(&[TRIGGER]),
        "when the skill fires",
    ),
];

/// Frontmatter keys of other hosts, which are preserved and shown.
pub(crate) const HOST_KEYS: &[&str] = &[
    "agent",
    "argument-hint",
    "arguments",
    "context",
    "disable-model-invocation",
    "effort",
    "hooks",
    "model",
    "paths",
    "shell",
    "user-invocable",
    "when_to_use",
];
