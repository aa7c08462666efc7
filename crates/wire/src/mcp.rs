//! Arguments and results of deft's MCP tools, and skills as folders of files.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{FailureClass, Object, Outcome, RunId, RunStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::{ApprovalAnswer, ApprovalView};
use crate::run::{ListedRun, RunError, RunView};
use crate::schema::{words, words_or_null};

/// The arguments of `skill_run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillRunRequest {
    /// Id of the skill.
    pub skill: String,
    /// Inputs of the skill, by name.
    #[serde(default)]
    #[schemars(with = "Object")]
    pub inputs: Object,
}

/// The arguments of `run_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunListRequest {
    /// Only runs of this skill.
    #[schemars(with = "String")]
    pub skill: Option<String>,
    /// Only runs in this state.
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: Option<RunStatus>,
    /// Only runs with this outcome.
    #[schemars(schema_with = "words::<Outcome>")]
    pub outcome: Option<Outcome>,
    /// Maximum number of runs. Default: 20.
    #[schemars(with = "u32", range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// The arguments of `run_show` and `run_cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// Id of the run, a prefix of it, or `last`.
    pub id: String,
}

/// The arguments of `approval_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalListRequest {
    /// Whether to include answered approvals.
    pub answered: bool,
}

/// The arguments of `approval_answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalAnswerRequest {
    /// Id of the approval, a prefix of it, or `last`.
    pub id: String,
    /// The person's answer.
    pub answer: ApprovalAnswer,
    /// Whether a `yes` approves the same operation from now on.
    #[serde(default)]
    pub always: bool,
}

/// The result of `run_cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelledRun {
    /// Whether the run has ended; false until the process that drives it has stopped it.
    pub is_over: bool,
    pub run: RunView,
}

/// A run of a skill, reduced to what the caller of a tool needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillRun {
    /// Id of the run.
    #[schemars(with = "String")]
    pub run: RunId,
    pub skill: String,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    #[schemars(schema_with = "words_or_null::<Outcome>")]
    pub outcome: Option<Outcome>,
    pub outputs: Value,
    pub error: Option<RunError>,
    /// What the run waits for, as text for people.
    pub waiting_for: Option<String>,
    /// Approvals that must be answered before the run continues.
    pub approvals: Vec<ApprovalView>,
    pub duration_ms: Option<u64>,
}

impl SkillRun {
    /// Combines a run with its pending approvals.
    pub fn new(run: RunView, approvals: Vec<ApprovalView>) -> Self {
        Self {
            run: run.id,
            skill: run.skill,
            status: run.status,
            outcome: run.outcome,
            outputs: run.outputs,
            error: run.error,
            waiting_for: run.waiting_for,
            approvals,
            duration_ms: run.duration_ms,
        }
    }
}

/// Runs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunPage {
    pub runs: Vec<ListedRun>,
}

/// Result of a tool that returns text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextResult {
    pub result: String,
}

/// Error of a failed call: the value of `_meta["deft/error"]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallError {
    /// Stable code for programs.
    pub code: String,
    /// Failure class, by which retries select failures.
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    pub hint: Option<String>,
}

/// A skill and its files (SEP-2640).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEntry {
    /// URI of its `SKILL.md`.
    pub uri: String,
    /// Frontmatter of its `SKILL.md`, as written.
    pub frontmatter: Object,
    /// All files of the skill.
    pub resources: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillFile {
    pub uri: String,
    /// Digest: `sha256:` and the hash in hexadecimal.
    pub digest: String,
    /// Size in bytes.
    pub size: u64,
}

/// Type and caching rules of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultHead {
    /// Always `complete`.
    pub result_type: String,
    pub ttl_ms: u64,
    /// Always `private`: the skills of a home belong to its owner.
    pub cache_scope: String,
}

/// The result of `skills/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkillEntries {
    #[serde(flatten)]
    pub head: ResultHead,
    pub skills: Vec<SkillEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The result of `skills/get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEntryResult {
    #[serde(flatten)]
    pub head: ResultHead,
    pub skill: SkillEntry,
}

/// The result of `resources/directory/read`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryListing {
    #[serde(flatten)]
    pub head: ResultHead,
    pub resources: Vec<DirectoryResource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A file or folder in a folder of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryResource {
    pub uri: String,
    pub name: String,
    /// `inode/directory` for a folder; absent if the name does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}
