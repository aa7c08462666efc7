//! The field tables of records.

use super::{Field, Kind, TRIGGER, optional, required_field};

/// A record, as accepted by `memory_store_skill` (S0.1, S0.2).
pub(crate) const RECORD: &[Field] = &[
    required_field("name", Kind::Text, "the name of the skill"),
    required_field(
        "trigger_type",
        Kind::Words(&["cron", "event", "manual"]),
        "the kind of trigger",
    ),
    required_field("instructions", Kind::Text, "the task, in prose"),
    optional("description", Kind::Text, "one line for listings"),
    optional("trigger_config", Kind::Table(&[TRIGGER]), "when it fires"),
    optional("required_tools", Kind::Texts, "tools that a run may use"),
    optional(
        "execution_plan",
        Kind::Tables(&[PLAN_STEP]),
        "compiled tool calls; with one step the skill is `direct`",
    ),
    optional(
        "keywords",
        Kind::Texts,
        "keywords; a message that contains one activates the skill as a playbook",
    ),
    optional(
        "priority",
        Kind::Integer,
        "which of several matching playbooks comes first",
    ),
];

/// A step of a plan (S0.3).
pub(crate) const PLAN_STEP: &[Field] = &[
    required_field("id", Kind::Text, "its name"),
    required_field("toolName", Kind::Text, "the tool"),
    optional("parameters", Kind::Object, "its arguments"),
    optional(
        "on_error",
        Kind::OnError,
        "`fail` (default), `continue` or `retry:N`; several steps with it are a workflow",
    ),
    optional(
        "timeout",
        Kind::Duration,
        "timeout of an attempt; several steps with it are a workflow",
    ),
];
