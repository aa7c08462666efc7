//! The field table of a workflow step. The fields of its kind come from the table of kinds.

use super::step_kinds::OWN_FIELDS;
use super::{EXPECT, Field, HEAL, KINDS, Kind, optional, required_field};

/// A step of a workflow: its name, the keys of its kind, and common keys.
pub(crate) const STEP: &[Field] = &step_fields();

const COUNT: usize = HEAD.len() + KINDS.len() + OWN_FIELDS.len() + COMMON_FIELDS.len();

const fn step_fields() -> [Field; COUNT] {
    let mut fields = [HEAD[0]; COUNT];
    let mut at = 0;
    while at < COUNT {
        let kind = at.wrapping_sub(HEAD.len());
        let own = kind.wrapping_sub(KINDS.len());
        fields[at] = if at < HEAD.len() {
            HEAD[at]
        } else if kind < KINDS.len() {
            KINDS[kind].field()
        } else if own < OWN_FIELDS.len() {
            OWN_FIELDS[own]
        } else {
            COMMON_FIELDS[own - OWN_FIELDS.len()]
        };
        at += 1;
    }
    fields
}

const HEAD: &[Field] = &[
    required_field("id", Kind::Name, "its name in templates and conditions"),
    optional("description", Kind::Text, "one line for people"),
];

/// Fields that steps of all kinds have.
const COMMON_FIELDS: &[Field] = &[
    optional("output", Kind::Name, "a second name for the value"),
    optional(
        "condition",
        Kind::Text,
        "a Python expression; false skips the step",
    ),
    optional(
        "on_error",
        Kind::OnError,
        "`fail` (default), `continue` or `retry:N`",
    ),
    optional("timeout", Kind::Duration, "timeout of an attempt"),
    optional(
        "loop",
        Kind::Loop,
        "a list or a mapping, or a template that gives one; the step runs for each item; `loop.index` counts from 1",
    ),
    optional(
        "loop_var",
        Kind::Name,
        "the name of the item; default `item`",
    ),
    optional(
        "loop_concurrency",
        Kind::Positive,
        "maximum number of items processed in parallel; default 1",
    ),
    optional(
        "parallel_group",
        Kind::Text,
        "adjacent steps with the same group run in parallel",
    ),
    optional(
        "depends_on",
        Kind::Texts,
        "ids of the steps that must finish first",
    ),
    optional("cache", Kind::Duration, "how long a result is reused"),
    optional(
        "effects",
        Kind::Words(&["none", "idempotent", "once"]),
        "whether the step may be repeated: `none`, `idempotent` or `once`",
    ),
    optional("heal", Kind::Tables(&[HEAL]), "`heal` rules of this step"),
    optional(
        "max_heals",
        Kind::Count,
        "maximum number of `heal` rules applied for this step",
    ),
    optional(
        "expect",
        Kind::Table(&[EXPECT]),
        "conditions for the step to succeed",
    ),
];

/// The value of `wait` if it is not a duration.
pub(crate) const WAIT: &[Field] = &[required_field(
    "until",
    Kind::Filled,
    "an instant, or a template for one; without an offset it is in the zone of the skill",
)];
