//! Bodies of skills from files.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{InputType, Object, StepType};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::words;

/// Body of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SkillBody {
    /// A man page.
    Manual {
        handler: Option<String>,
        flags: Vec<FlagView>,
        sections: Vec<SectionView>,
        text: String,
    },
    /// Steps with inputs and outputs.
    Workflow {
        inputs: Vec<InputView>,
        steps: Vec<StepView>,
        outputs: Object,
        confirmations: Vec<ConfirmationView>,
    },
    /// One tool call.
    Call { tool: String, args: Value },
    /// Instructions for a model.
    Text { text: String },
}

/// Kind of value that a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlagTakes {
    Nothing,
    Text,
    Date,
    One,
    Some,
}

/// A flag of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlagView {
    pub name: String,
    pub description: String,
    pub required: bool,
    pub takes: FlagTakes,
    /// Allowed values, if the set is closed.
    pub values: Option<Vec<String>>,
    pub default: Vec<String>,
}

/// A section of a man page; `start` and `end` are byte offsets of its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SectionView {
    pub title: String,
    pub level: u8,
    pub start: usize,
    pub end: usize,
}

/// An input of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InputView {
    pub name: String,
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::<InputType>")]
    pub kind: InputType,
    pub required: bool,
    pub default: Option<Value>,
    pub description: Option<String>,
    pub pattern: Option<String>,
    #[serde(rename = "enum")]
    pub choices: Vec<Value>,
    pub max_length: Option<u64>,
}

/// A step of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepView {
    pub id: String,
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::<StepType>")]
    pub kind: StepType,
    pub condition: Option<String>,
    pub depends_on: Option<Vec<String>>,
    pub parallel_group: Option<String>,
    pub on_error: String,
    pub output: Option<String>,
}

/// An approval asked before a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConfirmationView {
    pub step: String,
    pub message: String,
    pub default: bool,
}
