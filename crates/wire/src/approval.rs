//! Questions that wait for the answer of a person, and answers that hold for later questions.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Object, RunId};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person may answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    Yes,
    No,
    /// Leave the step out and continue.
    Skip,
}

impl ApprovalAnswer {
    /// Every answer, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Yes, Self::No, Self::Skip];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Skip => "skip",
        }
    }
}

/// What a question is about: the call that would be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OperationView {
    /// The kind of the step: `tool`, `compute`, …
    pub kind: String,
    /// The tool or skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its arguments, where they are known before the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The tool, where a person may agree to all of its calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<RememberedTool>,
}

/// A tool as its server described it when a person was asked about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RememberedTool {
    pub tool: String,
    /// A hash of its description by its server.
    pub digest: String,
}

/// A question, and the answer once there is one.
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

/// The answer to `approvals list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalList {
    pub approvals: Vec<ApprovalView>,
}

/// The answer to `approvals approve` and `approvals reject`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDocument {
    pub approval: ApprovalView,
}

/// A standing answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantView {
    pub id: String,
    /// The skill; null for a grant that holds for a tool.
    pub skill: Option<String>,
    pub tool: Option<String>,
    pub revision: String,
    pub operation: String,
    /// Which other arguments it allows.
    pub pattern: Option<Object>,
    pub describes: String,
    pub by: String,
    #[schemars(with = "String")]
    pub granted_at: Timestamp,
}

/// The answer to `approvals grants`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantList {
    pub grants: Vec<GrantView>,
}

/// The answer to `approvals revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GrantRevoked {
    pub grant: GrantView,
    pub revoked: bool,
}
