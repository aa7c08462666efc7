//! The tables.

use super::{Field, Kind, STEP};

pub(super) const fn optional(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        required: false,
        doc,
    }
}

pub(super) const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Field {
    Field {
        name,
        kind,
        required: true,
        doc,
    }
}

/// Frontmatter of a `SKILL.md` in the open agentskills format.
pub(crate) const OPEN: &[Field] = &[
    required(
        "name",
        Kind::Text,
        "lower-case letters, digits and hyphens; the same as the folder",
    ),
    required(
        "description",
        Kind::Text,
        "what the skill does and when to use it, at most 1024 characters",
    ),
    optional("license", Kind::Text, "the licence of the skill"),
    optional(
        "compatibility",
        Kind::Text,
        "what the skill needs around it, at most 500 characters",
    ),
    optional(
        "allowed-tools",
        Kind::Any,
        "tools the skill may use without asking, divided by spaces",
    ),
    optional(
        "metadata",
        Kind::Open(&[METADATA, POLICY, LISTED]),
        "everything deft adds to the open format",
    ),
];

/// deft's keys below `metadata` of a `SKILL.md` (S0.10).
pub(crate) const METADATA: &[Field] = &[
    optional(
        "keywords",
        Kind::Texts,
        "words in a message that make the skill a playbook",
    ),
    optional(
        "priority",
        Kind::Integer,
        "which of several matching playbooks comes first; higher wins",
    ),
    optional(
        "required_tools",
        Kind::Texts,
        "the only tools a run may use",
    ),
    optional("schedule", Kind::Cron, "a cron expression"),
    optional(
        "trigger_config",
        Kind::Table(&[TRIGGER]),
        "when the skill fires by itself",
    ),
];

/// Keys for listings and people.
pub(crate) const LISTED: &[Field] = &[
    optional("tags", Kind::Texts, "words to find the skill by"),
    optional("author", Kind::Text, "who wrote it"),
    optional("version", Kind::Text, "its version, in its author's words"),
    optional("created", Kind::Text, "when it was written"),
];

/// Frontmatter keys of other hosts, kept and shown.
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

/// When a skill fires (S0.21 to S0.24).
pub(crate) const TRIGGER: &[Field] = &[
    optional(
        "schedule",
        Kind::Cron,
        "a cron expression, read in the skill's zone",
    ),
    optional("interval_minutes", Kind::Positive, "every so many minutes"),
    optional("at", Kind::Text, "once, at an ISO timestamp"),
    optional(
        "in_minutes",
        Kind::Positive,
        "once, so many minutes from now",
    ),
    optional("in_hours", Kind::Positive, "once, so many hours from now"),
    optional(
        "in",
        Kind::Duration,
        "once, after a length of time such as `1h30m`",
    ),
    optional(
        "event",
        Kind::Words(&["conversation_ended"]),
        "when this happens: `conversation_ended`, 15 minutes after the last message of a chat",
    ),
    optional(
        "timezone",
        Kind::Text,
        "the IANA zone of `schedule` and `at`; the host's when absent",
    ),
];

/// How a skill may run; read in every dialect.
pub(crate) const POLICY: &[Field] = &[
    optional(
        "enabled",
        Kind::Truth,
        "false keeps the skill from firing by itself",
    ),
    optional(
        "agent_id",
        Kind::Text,
        "who owns the skill; `thinker` when absent",
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
];

/// A remedy.
pub(crate) const HEAL: &[Field] = &[
    required("when", Kind::Classes, "the failures it answers to"),
    required("tool", Kind::Text, "the tool that mends"),
    optional(
        "args",
        Kind::Object,
        "its arguments; texts may be templates",
    ),
];

/// Post-conditions.
pub(crate) const EXPECT: &[Field] = &[
    optional("called", Kind::Texts, "tools that must have succeeded"),
    optional("that", Kind::Text, "a condition over the outputs"),
    optional("schema", Kind::Object, "a JSON Schema for the answer"),
];

/// What models may cost.
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

/// A YAML workflow (S3.1 to S3.5).
pub(crate) const WORKFLOW: &[Field] = &[
    optional(
        "$schema",
        Kind::Text,
        "where the JSON Schema is, for editors",
    ),
    required(
        "name",
        Kind::Text,
        "what the skill is called; letters, digits, `_`, `-` and `.`",
    ),
    required("description", Kind::Text, "one line for listings"),
    optional("inputs", Kind::Tables(&[INPUT]), "parameters"),
    required("steps", Kind::Tables(&[STEP]), "what is done, in order"),
    optional(
        "outputs",
        Kind::Object,
        "what a run returns; texts may be templates",
    ),
    optional(
        "confirmations",
        Kind::Tables(&[CONFIRMATION]),
        "questions before steps",
    ),
    optional("schedule", Kind::Cron, "a cron expression"),
    optional(
        "trigger_config",
        Kind::Table(&[TRIGGER]),
        "when the skill fires by itself",
    ),
    optional(
        "keywords",
        Kind::Texts,
        "words in a message that call for it",
    ),
    optional(
        "required_tools",
        Kind::Texts,
        "tools without which it cannot run",
    ),
    optional("license", Kind::Text, "the licence of the skill"),
    optional("metadata", Kind::Object, "anything else"),
];

/// A parameter of a workflow.
pub(crate) const INPUT: &[Field] = &[
    required("name", Kind::Name, "its name under `inputs`"),
    optional(
        "type",
        Kind::Words(&[
            "string", "date", "integer", "number", "boolean", "array", "object", "any", "str",
            "text", "int", "float", "bool", "list", "dict", "map",
        ]),
        "`string` when absent; `date` is a day such as `2026-03-01`; `str` and all behind it are other names",
    ),
    optional(
        "required",
        Kind::Truth,
        "whether it must be given; false when absent",
    ),
    optional("default", Kind::Any, "what counts when it is not given"),
    optional("description", Kind::Text, "one line for help"),
    optional(
        "pattern",
        Kind::Text,
        "a regular expression that text must match",
    ),
    optional("enum", Kind::Choices, "the only values allowed"),
    optional(
        "max_length",
        Kind::Count,
        "the most characters text may have",
    ),
];

/// A question before a step.
pub(crate) const CONFIRMATION: &[Field] = &[
    required("step", Kind::Text, "the step it stands before"),
    required("message", Kind::Text, "what is asked, a template"),
    optional(
        "default",
        Kind::Truth,
        "the answer that is preselected; false when absent",
    ),
];

/// A record, as `memory_store_skill` takes it (S0.1, S0.2).
pub(crate) const RECORD: &[Field] = &[
    required("name", Kind::Text, "what the skill is called, in prose"),
    required(
        "trigger_type",
        Kind::Words(&["cron", "event", "manual"]),
        "what makes it fire",
    ),
    required("instructions", Kind::Text, "what is to be done, in prose"),
    optional("description", Kind::Text, "one line for listings"),
    optional("trigger_config", Kind::Table(&[TRIGGER]), "when it fires"),
    optional(
        "required_tools",
        Kind::Texts,
        "the only tools a run may use",
    ),
    optional(
        "execution_plan",
        Kind::Tables(&[PLAN_STEP]),
        "compiled tool calls; one step makes it direct",
    ),
    optional(
        "keywords",
        Kind::Texts,
        "words in a message that call for it",
    ),
    optional(
        "priority",
        Kind::Integer,
        "which of several matching playbooks comes first",
    ),
];

/// A step of a plan (S0.3).
pub(crate) const PLAN_STEP: &[Field] = &[
    required("id", Kind::Text, "its name"),
    required("toolName", Kind::Text, "the tool"),
    optional("parameters", Kind::Object, "its arguments"),
    optional(
        "on_error",
        Kind::OnError,
        "`fail` (default), `continue` or `retry:N`; several steps with it are a workflow",
    ),
    optional(
        "timeout",
        Kind::Duration,
        "the longest an attempt may take; several steps with it are a workflow",
    ),
];
