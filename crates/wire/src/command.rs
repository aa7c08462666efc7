//! JSON output of `deft cmd`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Object;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command and its result (S2.46).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandView {
    pub status: CommandStatus,
    /// Text of the result.
    pub content: String,
    /// Changes made by the command, as words such as `skill_created`.
    pub side_effects: Vec<String>,
    pub metadata: Object,
    pub ok: bool,
    /// The command as the caller wrote it.
    pub command: String,
}

/// Whether a command succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandStatus {
    Ok,
    Error,
}

/// Several commands and their results (S2.48).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandBatch {
    pub ok: bool,
    pub results: Vec<CommandView>,
}
