//! Types for tools: lists, approvals in chats, and results of calls.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use deft_model::{Effects, FailureClass};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::schema::{words, words_or_null};

/// JSON output of `deft tools list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    pub tools: Vec<ToolSummary>,
    /// Tools that servers list but that cannot be used.
    pub disabled: Vec<DisabledTool>,
    /// Enabled servers that have never answered.
    pub not_asked: Vec<String>,
    /// Servers that did not answer this time.
    pub failed: Vec<FailedServer>,
}

/// A tool in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSummary {
    /// Name to call the tool by: the short name if it is unique.
    pub name: String,
    pub full_name: String,
    pub server: String,
    pub title: Option<String>,
    pub description: String,
    /// Effects of repeating a call, if the server declares them.
    #[schemars(schema_with = "words_or_null::<Effects>")]
    pub effects: Option<Effects>,
    pub builtin: bool,
}

/// A tool that a server lists but that cannot be used.
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

/// JSON output of `deft tools show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolDocument {
    pub tool: ToolView,
}

/// A tool with all its details.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolView {
    #[serde(flatten)]
    pub summary: ToolSummary,
    /// JSON Schema of the arguments, as the server wrote it.
    pub input_schema: Value,
    /// JSON Schema of the structured result, as the server wrote it.
    pub output_schema: Option<Value>,
    pub annotations: ToolAnnotations,
    pub approval: ToolApproval,
}

/// Behaviour hints of a tool, as its server declares them in MCP.
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

/// Approval rules for a tool in chats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolApproval {
    /// Whether a person is asked before each call.
    pub asked_in_chats: bool,
    /// A person's grant for all calls of the tool, if it is valid.
    pub always: Option<ToolGrant>,
}

/// A person's grant for all calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolGrant {
    pub grant: String,
    pub by: String,
    #[schemars(with = "String")]
    pub granted_at: Timestamp,
}

/// JSON output of `deft tools forget`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForgottenTools {
    /// Full names of the tools.
    pub forgotten: Vec<String>,
}

/// JSON output of a call that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolReply {
    /// Always `true`.
    pub ok: bool,
    pub tool: String,
    pub server: String,
    /// Result of the call, as the tool returned it.
    pub value: Value,
    pub duration_ms: u64,
}

/// JSON output of a call that failed.
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
    /// Stable code, more specific than the class if possible.
    pub code: String,
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    pub hint: Option<String>,
    /// Whether the call may have taken effect nevertheless.
    pub in_doubt: bool,
    /// Whether nothing was called because the tool or its server is missing.
    pub blocked: bool,
}

/// JSON output of `deft tools catalog`: the overview of all tools that models get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCatalog {
    /// Always `true`.
    pub success: bool,
    pub data: CatalogData,
}

/// Content of the tool overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogData {
    pub summary: String,
    /// Tools by server.
    pub catalog: BTreeMap<String, Vec<CatalogEntry>>,
}

/// A tool in the overview.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CatalogEntry {
    pub name: String,
    /// First sentence of its description.
    pub description: String,
}
