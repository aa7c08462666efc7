//! The table of policy fields, shared by all dialects.

use super::{Field, Kind, optional, required_field};

/// The policy fields, in the order of `Policy::entries`.
pub(crate) const POLICY: &[Field] = &[
    optional(
        "enabled",
        Kind::Truth,
        "whether the skill runs on its schedule, events and hooks; default true",
    ),
    optional(
        "agent_id",
        Kind::Text,
        "the agent that the skill belongs to; default `thinker`",
    ),
    optional(
        "max_steps",
        Kind::Positive,
        "maximum number of turns of a model; default 10",
    ),
    optional(
        "notify_on_completion",
        Kind::Truth,
        "whether a finished run sends a notice; default true",
    ),
    optional(
        "notify_interval_minutes",
        Kind::Count,
        "minimum time between these notices; 0 means the host's default",
    ),
    optional(
        "effects",
        Kind::Words(&["none", "idempotent", "once"]),
        "whether a call may be repeated: `none` and `idempotent` may, `once` may not",
    ),
    optional(
        "heal",
        Kind::Tables(&[HEAL]),
        "`heal` rules, applied before a failed call is retried",
    ),
    optional(
        "max_heals",
        Kind::Count,
        "maximum number of `heal` rules applied in a run; default 3",
    ),
    optional(
        "expect",
        Kind::Table(&[EXPECT]),
        "conditions for the run to succeed",
    ),
    optional(
        "budget",
        Kind::Table(&[BUDGET]),
        "limits on the cost of models",
    ),
    optional(
        "misfire",
        Kind::Words(&["once", "skip", "all"]),
        "what happens to slots that could not run; default `once`",
    ),
    optional(
        "misfire_window",
        Kind::Duration,
        "maximum age of a slot that is still run; default 24h",
    ),
    optional(
        "overlap",
        Kind::Words(&["skip", "queue", "cancel_other", "allow"]),
        "what happens if the skill is still running when the next slot is due",
    ),
    optional(
        "preflight",
        Kind::Any,
        "a check before the run that costs no model call: `calendar: 2h`, `email: new`, a `tool` with `args` and `condition`, or `compute`",
    ),
    optional("timezone", Kind::Text, "the IANA zone of the skill's times"),
    optional("timeout", Kind::Duration, "timeout of a run"),
    optional(
        "concurrency",
        Kind::Positive,
        "maximum number of concurrent runs of the skill",
    ),
    optional(
        "secrets",
        Kind::Texts,
        "names of secrets that its tools may get",
    ),
    optional("tests", Kind::List, "test cases (reserved)"),
    optional(
        "expose",
        Kind::Truth,
        "whether MCP clients see the skill as a tool",
    ),
];

/// A heal rule.
pub(crate) const HEAL: &[Field] = &[
    required_field(
        "when",
        Kind::Classes,
        "failure classes that trigger the rule",
    ),
    required_field("tool", Kind::Text, "the tool to call"),
    optional(
        "args",
        Kind::Object,
        "its arguments; strings may be templates",
    ),
];

/// Conditions for the success of a run or step.
pub(crate) const EXPECT: &[Field] = &[
    optional(
        "called",
        Kind::Texts,
        "tools that must have been called successfully",
    ),
    optional("that", Kind::Text, "a condition over the outputs"),
    optional("schema", Kind::Object, "a JSON Schema for the answer"),
];

/// Limits on the cost of models.
pub(crate) const BUDGET: &[Field] = &[
    optional(
        "tokens",
        Kind::Positive,
        "tokens, input and output together",
    ),
    optional("cost_usd", Kind::Number, "money"),
    optional(
        "per",
        Kind::Words(&["run", "day"]),
        "the period of both limits: `run` (default) or `day`",
    ),
    optional(
        "on_exhausted",
        Kind::Words(&["pause", "skip", "ask"]),
        "what happens when a limit is reached; default `pause`",
    ),
];
