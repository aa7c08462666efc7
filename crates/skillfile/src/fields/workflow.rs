//! The field tables of a YAML workflow; those of its steps are in `steps.rs`.

use super::{Field, Kind, STEP, TRIGGER, optional, required};

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

/// A question to a person before a step.
pub(crate) const CONFIRMATION: &[Field] = &[
    required("step", Kind::Text, "the step it stands before"),
    required("message", Kind::Text, "what is asked, a template"),
    optional(
        "default",
        Kind::Truth,
        "the answer that is preselected; false when absent",
    ),
];
