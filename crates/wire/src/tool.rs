//! Tools: what there is to call, what a chat asks before it calls one, and what a call returned.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use deft_model::{Effects, FailureClass};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{words, words_or_null};

/// The document of `deft tools list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    pub tools: Vec<ToolSummary>,
    /// Tools that servers list and that cannot be used.
    pub disabled: Vec<DisabledTool>,
    /// Enabled servers that have never answered.
    pub not_asked: Vec<String>,
    /// Servers that did not answer just now.
    pub failed: Vec<FailedServer>,
}

/// A tool in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSummary {
    /// What a caller may write: the bare name where it is unique.
    pub name: String,
    pub full_name: String,
    pub server: String,
    pub title: Option<String>,
    pub description: String,
    /// What repeating a call would do, if the server says so.
    #[schemars(schema_with = "words_or_null::<Effects>")]
    pub effects: Option<Effects>,
    pub builtin: bool,
}

/// A tool that a server lists and that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DisabledTool {
    pub server: String,
    pub name: String,
    pub reason: String,
}

/// A server that did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedServer {
    pub server: String,
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    pub hint: Option<String>,
}

/// The document of `deft tools show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDocument {
    pub tool: ToolView,
}

/// One tool with everything that is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolView {
    #[serde(flatten)]
    pub summary: ToolSummary,
    /// The JSON Schema of its arguments, as the server wrote it.
    pub input_schema: Value,
    /// The JSON Schema of its structured result, as the server wrote it.
    pub output_schema: Option<Value>,
    pub annotations: ToolAnnotations,
    pub approval: ToolApproval,
}

/// What a server says about the behaviour of a tool, in the words of MCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolAnnotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// What a chat does before it calls a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolApproval {
    /// Whether a person is asked before each call.
    pub asked_in_chats: bool,
    /// The `always` of a person, if it holds.
    pub always: Option<ToolGrant>,
}

/// A person's `always` for a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolGrant {
    pub grant: String,
    pub by: String,
    #[schemars(with = "String")]
    pub granted_at: Timestamp,
}

/// The document of `deft tools forget`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgottenTools {
    /// Full names.
    pub forgotten: Vec<String>,
}

/// The document of a call that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolReply {
    /// Always `true`.
    pub ok: bool,
    pub tool: String,
    pub server: String,
    /// The result, as the tool returned it.
    pub value: Value,
    pub duration_ms: u64,
}

/// The document of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRefusal {
    /// Always `false`.
    pub ok: bool,
    pub tool: String,
    pub error: ToolError,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolError {
    /// A stable word: more precise than the class where one exists.
    pub code: String,
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    pub hint: Option<String>,
    /// The call may have taken effect all the same.
    pub in_doubt: bool,
    /// Nothing was tried, because the tool or its server is missing.
    pub blocked: bool,
}

/// The overview of all tools that a model gets: the document of `deft tools catalog`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCatalog {
    /// Always `true`.
    pub success: bool,
    pub data: CatalogData,
}

/// The content of the overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogData {
    pub summary: String,
    /// Tools by server.
    pub catalog: BTreeMap<String, Vec<CatalogEntry>>,
}

/// A tool of the overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogEntry {
    pub name: String,
    /// The first sentence of its description.
    pub description: String,
}
