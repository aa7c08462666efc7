//! The JSON Schema of public events: what follows a run live, and what is exported of it.
//!
//! The names and fields are those of [`crate::event`]; tests compare both. It is written by hand because
//! a schema that is derived from the types has other words for the same rules, and programs rely on the
//! printed one. Fields may be added, so unknown ones are allowed.

use deft_model::{Choice, FailureClass, Outcome};
use serde_json::{Map, Value, json};

use crate::approval::ApprovalAnswer;

/// What a field holds.
#[derive(Clone, Copy)]
enum Type {
    Text,
    OptionalText,
    Truth,
    Count,
    Seconds,
    Instant,
    Object,
    Any,
    /// What went wrong, or null.
    Failure,
    Class,
    OptionalClass,
    Outcome,
    Options,
    Answer,
}

/// A field, and whether every event of the type has it.
struct Field(&'static str, Type, bool);

/// A type of event.
struct Kind {
    name: &'static str,
    doc: &'static str,
    fields: &'static [Field],
}

const fn kind(name: &'static str, doc: &'static str, fields: &'static [Field]) -> Kind {
    Kind { name, doc, fields }
}

const STEP: Field = Field("step_id", Type::Text, true);
const ERROR: Field = Field("error", Type::Failure, true);
const DURATION: Field = Field("duration", Type::Seconds, true);
const BEGIN: &[Field] = &[
    STEP,
    Field("step_type", Type::Text, true),
    Field("tool", Type::Text, false),
    Field("skill_id", Type::Text, false),
    Field("args", Type::Object, false),
    Field("attempt", Type::Count, false),
    Field("items", Type::Count, false),
];
const END: &[Field] = &[
    STEP,
    Field("success", Type::Truth, true),
    Field("result", Type::Any, true),
    ERROR,
    DURATION,
    Field("cached", Type::Truth, false),
    Field("reused", Type::Truth, false),
];
const SKIP: &[Field] = &[
    STEP,
    Field("reason", Type::Text, true),
    Field("reused", Type::Truth, false),
];
const OVER: &[Field] = &[
    Field("error", Type::OptionalText, true),
    Field("step_id", Type::OptionalText, true),
    Field("class", Type::OptionalClass, true),
    Field("outcome", Type::Outcome, true),
    DURATION,
];

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind("skill_started", "A run began.", &[
        Field("inputs", Type::Object, true),
        Field("revision", Type::Text, true),
    ]),
    kind("step_started", "A step began.", BEGIN),
    kind("step_retrying", "A step failed and is tried again at an instant.", &[
        STEP, Field("attempt", Type::Count, true), ERROR, Field("retry_at", Type::Instant, true),
    ]),
    kind("step_retried", "A step is tried again.", BEGIN),
    kind("step_completed", "A step ended.", END),
    kind("step_skipped", "A step was left out.", SKIP),
    kind("item_started", "An item of a loop began.", BEGIN),
    kind("item_completed", "An item of a loop ended.", END),
    kind("item_skipped", "An item of a loop was left out.", SKIP),
    kind("auto_heal_triggered", "A remedy is tried before a step is tried again.", &[
        STEP, Field("failure_type", Type::Class, true), Field("action", Type::Text, true),
        Field("args", Type::Object, true), ERROR,
    ]),
    kind("auto_heal_completed", "A remedy ended.", &[
        STEP, Field("success", Type::Truth, true), ERROR, DURATION,
    ]),
    kind("confirmation_required", "A person is asked before a step.", &[
        STEP, Field("message", Type::Text, true), Field("options", Type::Options, true),
        Field("default", Type::Truth, true), Field("operation", Type::Object, true),
    ]),
    kind("confirmation_answered", "The question was answered.", &[
        STEP, Field("answer", Type::Answer, true), Field("by", Type::Text, true),
    ]),
    kind("skill_resumed", "A person lets an ended run continue.", &[Field("by", Type::Text, true)]),
    kind("skill_completed", "A run succeeded.", &[
        Field("success", Type::Truth, true), Field("outputs", Type::Any, true), DURATION,
    ]),
    kind("skill_failed", "A run failed or was interrupted.", OVER),
    kind("skill_skipped", "A run was not needed.", OVER),
    kind("skill_missed", "A run was due while deft was not running.", OVER),
    kind("skill_blocked", "A run could not continue because something was missing.", OVER),
    kind("skill_cancelled", "A run was cancelled.", OVER),
    kind("notice_sent", "A message to a person was delivered.", &[]),
    kind("notice_failed", "A message to a person could not be delivered.", &[]),
    kind("resync", "Events were left out; ask for the state anew.", &[]),
];

/// The schema of one event.
pub fn event_schema() -> Value {
    let kinds: Vec<Value> = KINDS.iter().map(one).collect();
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "an event of deft",
        "type": "object",
        "required": ["type", "seq", "at"],
        "properties": {
            "type": {"enum": names},
            "seq": {"type": "integer", "minimum": 0, "description": "Grows with every event of the store."},
            "at": instant(),
            "execution_id": {"type": "string", "description": "The run."},
            "skill": {"type": "string", "description": "The skill of the run."},
        },
        "oneOf": kinds,
    })
}

fn one(kind: &Kind) -> Value {
    let mut properties = Map::new();
    properties.insert("type".to_owned(), json!({"const": kind.name}));
    let mut required = vec!["type"];
    // Only this one is not about a run.
    if kind.name != "resync" {
        required.extend(["execution_id", "skill"]);
    }
    for Field(name, holds, always) in kind.fields {
        properties.insert((*name).to_owned(), holds.schema());
        if *always {
            required.push(name);
        }
    }
    json!({"description": kind.doc, "properties": properties, "required": required})
}

impl Type {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::OptionalText => json!({"type": ["string", "null"]}),
            Self::Truth => json!({"type": "boolean"}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::Seconds => json!({"type": "number", "minimum": 0, "description": "Seconds."}),
            Self::Instant => instant(),
            Self::Object => json!({"type": "object"}),
            Self::Any => json!(true),
            Self::Failure => json!({
                "type": ["object", "null"],
                "properties": {"class": {"enum": classes()}, "message": {"type": "string"}},
                "required": ["class", "message"],
            }),
            Self::Class => json!({"enum": classes()}),
            Self::OptionalClass => {
                let null = [Value::Null];
                let words = classes().into_iter().map(Value::from).chain(null);
                json!({"enum": words.collect::<Vec<_>>()})
            }
            Self::Outcome => {
                let words: Vec<&str> = Outcome::WORDS.iter().map(|(word, _)| *word).collect();
                json!({"enum": words})
            }
            Self::Options => json!({"type": "array", "items": {"type": "string"}}),
            Self::Answer => json!({"enum": ApprovalAnswer::ALL.map(ApprovalAnswer::word)}),
        }
    }
}

fn classes() -> Vec<&'static str> {
    FailureClass::WORDS.iter().map(|(word, _)| *word).collect()
}

fn instant() -> Value {
    json!({"type": "string", "format": "date-time"})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::generate::SchemaSettings;

    use super::*;
    use crate::event::EventBody;

    /// Types whose events are not events of a run.
    const NOT_OF_RUNS: [&str; 3] = ["notice_sent", "notice_failed", "resync"];

    /// Types of events of agents, which the schema does not describe yet.
    const AGENTS: [&str; 9] = [
        "agent_started",
        "model_replied",
        "model_failed",
        "tool_answered",
        "tool_refused",
        "tool_called",
        "tool_returned",
        "agent_dispatched",
        "agent_finished",
    ];

    /// Questions before a step and before a call have other fields; the schema describes the former.
    const QUESTIONS: [&str; 2] = ["confirmation_required", "confirmation_answered"];

    /// Fields that events may have and that the schema leaves open.
    const OPEN: [&str; 2] = ["check_failed", "until"];

    fn generated() -> Vec<Value> {
        let settings = SchemaSettings::draft07().for_serialize();
        let settings = settings.with(|settings| settings.inline_subschemas = true);
        let schema = settings
            .into_generator()
            .into_root_schema_for::<EventBody>();
        let schema = serde_json::to_value(schema).unwrap();
        schema["oneOf"].as_array().unwrap().clone()
    }

    fn name(kind: &Value) -> &str {
        kind["properties"]["type"]["const"].as_str().unwrap()
    }

    fn required(kind: &Value) -> BTreeSet<&str> {
        let names = kind["required"].as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap()).collect()
    }

    #[test]
    fn the_schema_names_the_events_of_the_types() {
        let generated = generated();
        let typed: BTreeSet<&str> = generated.iter().map(name).collect();
        let written = KINDS.iter().map(|kind| kind.name);
        let written: BTreeSet<&str> = written.filter(|name| !NOT_OF_RUNS.contains(name)).collect();
        let agents: BTreeSet<&str> = AGENTS.into();
        assert_eq!(&written | &agents, typed);
        assert!(written.is_disjoint(&agents));
    }

    #[test]
    fn the_schema_has_the_fields_of_the_types() {
        for kind in &generated() {
            let Some(written) = KINDS.iter().find(|written| written.name == name(kind)) else {
                continue;
            };
            if QUESTIONS.contains(&written.name) {
                continue;
            }
            let fields = kind["properties"].as_object().unwrap().keys();
            let fields: BTreeSet<&str> = fields
                .map(String::as_str)
                .filter(|name| *name != "type" && !OPEN.contains(name))
                .collect();
            let known: BTreeSet<&str> =
                written.fields.iter().map(|Field(name, ..)| *name).collect();
            assert_eq!(known, fields, "{}", written.name);
            let needed = written.fields.iter().filter(|Field(_, _, always)| *always);
            let mut needed: BTreeSet<&str> = needed.map(|Field(name, ..)| *name).collect();
            needed.insert("type");
            assert_eq!(needed, required(kind), "{}", written.name);
        }
    }
}
