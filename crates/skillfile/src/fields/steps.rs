//! The fields of a step of a workflow.

use super::{EXPECT, Field, HEAL, Kind, optional, required};

/// A step of a workflow.
pub(crate) const STEP: &[Field] = &[
    required("id", Kind::Name, "its name in templates and conditions"),
    optional("description", Kind::Text, "one line for people"),
    optional("tool", Kind::Filled, "calls a tool"),
    optional(
        "compute",
        Kind::Filled,
        "runs a block of Python; `result` is the value",
    ),
    optional("agent", Kind::Filled, "lets a model follow instructions"),
    optional("skill", Kind::Filled, "runs another skill"),
    optional(
        "wait",
        Kind::Wait,
        "lets time pass: `30s`, `2h`, `90d`, or `until` an instant; the run is parked and survives restarts",
    ),
    optional(
        "args",
        Kind::Object,
        "arguments of the tool or inputs of the skill; texts may be templates",
    ),
    optional(
        "tools",
        Kind::Texts,
        "the only tools an `agent` step may call",
    ),
    optional(
        "max_steps",
        Kind::Positive,
        "the most turns an `agent` step may take",
    ),
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
    optional("timeout", Kind::Duration, "the longest an attempt may take"),
    optional(
        "loop",
        Kind::Loop,
        "a list or a mapping, or a template that gives one; the step runs for each item; `loop.index` counts from 1",
    ),
    optional(
        "loop_var",
        Kind::Name,
        "the name of the item; `item` when absent",
    ),
    optional(
        "loop_concurrency",
        Kind::Positive,
        "how many items may be worked on at once; 1 when absent",
    ),
    optional(
        "parallel_group",
        Kind::Text,
        "neighbours with the same group run together",
    ),
    optional(
        "depends_on",
        Kind::Texts,
        "the step waits for exactly these",
    ),
    optional("cache", Kind::Duration, "how long a result may be reused"),
    optional(
        "effects",
        Kind::Words(&["none", "idempotent", "once"]),
        "what repeating the step would do",
    ),
    optional("heal", Kind::Tables(&[HEAL]), "remedies for this step"),
    optional(
        "max_heals",
        Kind::Count,
        "how many remedies this step may take",
    ),
    optional(
        "expect",
        Kind::Table(&[EXPECT]),
        "what must be true before the step is a success",
    ),
];

/// How long a step waits, where it is not a mere length of time.
pub(crate) const WAIT: &[Field] = &[required(
    "until",
    Kind::Filled,
    "an instant, or a template that gives one; without an offset it is in the zone of the skill",
)];
