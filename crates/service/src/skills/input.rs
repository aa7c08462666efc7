//! The inputs of a skill as JSON Schema.

use deft_model::{Body, Flag, FlagValue, Input, InputType, Skill};
use deft_wire::skill_files::SchemaDocument;
use serde_json::{Value, json};

/// An input of a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedInput {
    /// The name.
    pub name: String,
    /// A one-line description.
    pub description: Option<String>,
    /// Whether the skill needs it to run.
    pub required: bool,
    /// The JSON Schema of the value, with the description.
    pub schema: SchemaDocument,
}

/// Returns the inputs of a skill, or the flags of its page.
pub(crate) fn inputs(skill: &Skill) -> Vec<OfferedInput> {
    match &skill.body {
        Body::Steps(workflow) => workflow.inputs.iter().map(input).collect(),
        Body::Manual { text, .. } => deft_skillfile::flags(&text.read())
            .iter()
            .map(flag)
            .collect(),
        Body::Call { .. } | Body::Instructions(_) => Vec::new(),
    }
}

fn input(input: &Input) -> OfferedInput {
    let mut schema = match input.kind {
        InputType::String => json!({ "type": "string" }),
        InputType::Date => json!({ "type": "string", "format": "date" }),
        InputType::Integer => json!({ "type": "integer" }),
        InputType::Number => json!({ "type": "number" }),
        InputType::Boolean => json!({ "type": "boolean" }),
        InputType::Array => json!({ "type": "array", "items": {} }),
        InputType::Object => json!({ "type": "object" }),
        InputType::Any => json!({}),
    };
    let mut add = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema[key] = value;
        }
    };
    add("description", input.description.clone().map(Value::from));
    add("default", input.default.clone());
    add("pattern", input.pattern.clone().map(Value::from));
    add("maxLength", input.max_length.map(Value::from));
    add(
        "enum",
        (!input.choices.is_empty()).then(|| json!(input.choices)),
    );
    OfferedInput {
        name: input.name.clone(),
        description: input.description.clone(),
        required: input.required && input.default.is_none(),
        schema: SchemaDocument(schema),
    }
}

fn flag(flag: &Flag) -> OfferedInput {
    let mut schema = match &flag.value {
        FlagValue::Presence => json!({ "type": "boolean" }),
        FlagValue::Any => json!({ "type": "string" }),
        FlagValue::Date => json!({ "type": "string", "format": "date" }),
        FlagValue::OneOf(words) => json!({ "type": "string", "enum": words }),
        FlagValue::SomeOf(words) => {
            json!({ "type": "array", "items": { "type": "string", "enum": words } })
        }
    };
    schema["description"] = json!(flag.description);
    OfferedInput {
        name: flag.name.clone(),
        description: Some(flag.description.clone()),
        required: flag.required,
        schema: SchemaDocument(schema),
    }
}
