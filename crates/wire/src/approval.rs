//! Approvals and grants.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Object, RunId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A person's answer to an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    Yes,
    No,
    /// Skip the step and continue.
    Skip,
}

impl ApprovalAnswer {
    /// All answers, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Yes, Self::No, Self::Skip];

    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Skip => "skip",
        }
    }
}

/// The operation that an approval is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationView {
    /// Kind of the step: `tool`, `compute`, …
    pub kind: String,
    /// Name of the tool or skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Arguments, if they are known before the step begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The tool, if a person can approve all of its calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<RememberedTool>,
}

/// A tool, with the description that its server gave when the approval was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RememberedTool {
    pub tool: String,
    /// Hash of the server's description of the tool.
    pub digest: String,
}

/// An approval: the question, and the answer if it was given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalView {
    pub id: String,
    #[schemars(with = "String")]
    pub run: RunId,
    pub skill: String,
    pub revision: String,
    pub step_id: String,
    pub message: String,
    pub options: Vec<String>,
    pub operation: OperationView,
    #[schemars(with = "String")]
    pub asked_at: Timestamp,
    pub answer: Option<String>,
    pub by: Option<String>,
    #[schemars(with = "Option<String>")]
    pub answered_at: Option<Timestamp>,
}

/// JSON output of `deft approvals list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalList {
    pub approvals: Vec<ApprovalView>,
}

/// JSON output of `deft approvals approve` and `deft approvals reject`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDocument {
    pub approval: ApprovalView,
}

/// A stored answer that approves later calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantView {
    pub id: String,
    /// The skill; null for a grant for a tool.
    pub skill: Option<String>,
    pub tool: Option<String>,
    pub revision: String,
    pub operation: String,
    /// Pattern of other arguments that the grant allows.
    pub pattern: Option<Object>,
    pub describes: String,
    pub by: String,
    #[schemars(with = "String")]
    pub granted_at: Timestamp,
}

/// JSON output of `deft approvals grants`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantList {
    pub grants: Vec<GrantView>,
}

/// JSON output of `deft approvals revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantRevoked {
    pub grant: GrantView,
    pub revoked: bool,
}
