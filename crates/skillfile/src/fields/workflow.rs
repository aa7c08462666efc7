//! The field tables of a YAML workflow; those of its steps are in `steps.rs`.

use super::{Field, Kind, STEP, TRIGGER, optional, required_field};

/// A YAML workflow (S3.1 to S3.5).
pub(crate) const WORKFLOW: &[Field] = &[
    optional(
        "$schema",
        Kind::Text,
        "the URL or path of the JSON Schema, for editors",
    ),
    required_field(
        "name",
        Kind::Text,
        "the name of the skill; letters, digits, `_`, `-` and `.`",
    ),
    required_field("description", Kind::Text, "one line for listings"),
    optional("inputs", Kind::Tables(&[INPUT]), "parameters"),
    required_field("steps", Kind::Tables(&[STEP]), "the steps, in order"),
    optional(
        "outputs",
        Kind::Object,
        "the result of a run; strings may be templates",
    ),
    optional(
        "confirmations",
        Kind::Tables(&[CONFIRMATION]),
        "approvals before steps",
    ),
    optional("schedule", Kind::Cron, "a cron expression"),
    optional(
        "trigger_config",
        Kind::Table(&[TRIGGER]),
        "when the skill fires",
    ),
    optional(
        "keywords",
        Kind::Texts,
        "keywords; a message that contains one activates the skill as a playbook",
    ),
    optional("required_tools", Kind::Texts, "tools that it requires"),
    optional("license", Kind::Text, "the licence of the skill"),
    optional("metadata", Kind::Object, "anything else"),
];

/// A parameter of a workflow.
pub(crate) const INPUT: &[Field] = &[
    required_field("name", Kind::Name, "its name under `inputs`"),
    optional(
        "type",
        Kind::Words(&[
            "string", "date", "integer", "number", "boolean", "array", "object", "any", "str",
            "text", "int", "float", "bool", "list", "dict", "map",
        ]),
        "default `string`; `date` is a day such as `2026-03-01`; the names from `str` on are aliases",
    ),
    optional(
        "required",
        Kind::Truth,
        "whether it must be given; default false",
    ),
    optional("default", Kind::Any, "value if the input is not given"),
    optional("description", Kind::Text, "one line for help"),
    optional(
        "pattern",
        Kind::Text,
        "a regular expression that text must match",
    ),
    optional("enum", Kind::Choices, "allowed values"),
    optional("max_length", Kind::Count, "maximum length of a string"),
];

/// A question to a person before a step.
pub(crate) const CONFIRMATION: &[Field] = &[
    required_field("step", Kind::Text, "the step to confirm"),
    required_field("message", Kind::Text, "the question, a template"),
    optional(
        "default",
        Kind::Truth,
        "the preselected answer; default false",
    ),
];
