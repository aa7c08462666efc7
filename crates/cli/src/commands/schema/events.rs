//! The JSON Schema of public events: what follows a run live, and what is
//! exported of it.
//!
//! The names and fields are those that `deft_workflow::public` gives; a test
//! holds real events against the schema. Fields may be added, so unknown ones
//! are allowed.

use deft_model::{Choice, FailureClass, Outcome};
use serde_json::{Map, Value, json};

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
    kind("skill_resumed", "A person lets an ended run go on.", &[Field("by", Type::Text, true)]),
    kind("skill_completed", "A run succeeded.", &[
        Field("success", Type::Truth, true), Field("outputs", Type::Any, true), DURATION,
    ]),
    kind("skill_failed", "A run failed or was cut off.", OVER),
    kind("skill_skipped", "A run was not needed.", OVER),
    kind("skill_missed", "A run was due while nobody could run it.", OVER),
    kind("skill_blocked", "A run could not go on because something was not there.", OVER),
    kind("skill_cancelled", "Somebody stopped a run.", OVER),
    kind("notice_sent", "A message to a person was delivered.", &[]),
    kind("notice_failed", "A message to a person could not be delivered.", &[]),
    kind("resync", "Events were left out; ask for the state anew.", &[]),
];

/// The schema of one event.
pub(super) fn schema() -> Value {
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
            Self::Answer => json!({"enum": deft_workflow::OPTIONS}),
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
#[path = "events_tests.rs"]
mod tests;
