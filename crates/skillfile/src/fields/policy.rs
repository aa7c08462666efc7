//! The table of policy fields, shared by all dialects.

use super::{Field, Kind, optional, required};

/// The policy fields, in the order of `Policy::entries`.
pub(crate) const POLICY: &[Field] = &[
    optional(
        "enabled",
        Kind::Truth,
        "false keeps the skill from firing by itself",
    ),
    optional(
        "agent_id",
        Kind::Text,
        "the agent that the skill belongs to; `thinker` when absent",
    ),
    optional(
        "max_steps",
        Kind::Positive,
        "the most turns a model may take; 10 when absent",
    ),
    optional(
        "notify_on_completion",
        Kind::Truth,
        "whether a finished run is reported; true when absent",
    ),
    optional(
        "notify_interval_minutes",
        Kind::Count,
        "the least time between reports; 0 means the host's default",
    ),
    optional(
        "effects",
        Kind::Words(&["none", "idempotent", "once"]),
        "what repeating a call would do",
    ),
    optional(
        "heal",
        Kind::Tables(&[HEAL]),
        "remedies that are tried before a failed call is retried",
    ),
    optional(
        "max_heals",
        Kind::Count,
        "how many remedies may be taken; 3 when absent",
    ),
    optional(
        "expect",
        Kind::Table(&[EXPECT]),
        "what must be true before a run is a success",
    ),
    optional("budget", Kind::Table(&[BUDGET]), "what models may cost"),
    optional(
        "misfire",
        Kind::Words(&["once", "skip", "all"]),
        "what happens to slots that could not run; `once` when absent",
    ),
    optional(
        "misfire_window",
        Kind::Duration,
        "how late is too late; 24h when absent",
    ),
    optional(
        "overlap",
        Kind::Words(&["skip", "queue", "cancel_other", "allow"]),
        "what happens when a run of the skill is still going",
    ),
    optional(
        "preflight",
        Kind::Any,
        "a check before the run that costs no model call: `calendar: 2h`, `email: new`, a `tool` with `args` and `condition`, or `compute`",
    ),
    optional("timezone", Kind::Text, "the IANA zone of the skill's times"),
    optional("timeout", Kind::Duration, "the longest a run may take"),
    optional(
        "concurrency",
        Kind::Positive,
        "how many runs of the skill may go at once",
    ),
    optional(
        "secrets",
        Kind::Texts,
        "names of secrets its tools may be given",
    ),
    optional("tests", Kind::List, "cases for `deft skills test`"),
    optional(
        "expose",
        Kind::Truth,
        "true offers the skill to other programs as a tool of its own",
    ),
];

/// A heal rule.
pub(crate) const HEAL: &[Field] = &[
    required("when", Kind::Classes, "the failures it answers to"),
    required("tool", Kind::Text, "the healing tool"),
    optional(
        "args",
        Kind::Object,
        "its arguments; texts may be templates",
    ),
];

/// Conditions for the success of a run or step.
pub(crate) const EXPECT: &[Field] = &[
    optional("called", Kind::Texts, "tools that must have succeeded"),
    optional("that", Kind::Text, "a condition over the outputs"),
    optional("schema", Kind::Object, "a JSON Schema for the answer"),
];

/// Limits on the cost of models.
pub(crate) const BUDGET: &[Field] = &[
    optional("tokens", Kind::Positive, "tokens, in and out together"),
    optional("cost_usd", Kind::Number, "money"),
    optional(
        "per",
        Kind::Words(&["run", "day"]),
        "what both are counted over; `run` when absent",
    ),
    optional(
        "on_exhausted",
        Kind::Words(&["pause", "skip", "ask"]),
        "what happens when they are spent; `pause` when absent",
    ),
];
