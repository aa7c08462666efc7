//! Shapes that MCP clients get from deft: runs of skills, and skills as folders of files.

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
    /// The id of the skill.
    pub skill: String,
    /// Its inputs by name.
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
    /// How many at most: 20 when absent.
    #[schemars(with = "u32", range(min = 1, max = 200))]
    pub limit: Option<u32>,
}

/// The arguments of `run_show` and `run_cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// The id of the run, the beginning of it, or `last`.
    pub id: String,
}

/// The arguments of `approval_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalListRequest {
    /// Whether answered questions are listed too.
    pub answered: bool,
}

/// The arguments of `approval_answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalAnswerRequest {
    /// The id of the question, the beginning of it, or `last`.
    pub id: String,
    /// What the person answered.
    pub answer: ApprovalAnswer,
    /// Whether a yes holds for the same operation from now on.
    #[serde(default)]
    pub always: bool,
}

/// The result of `run_cancel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelledRun {
    /// False while the process that drives the run has not stopped it yet.
    pub is_over: bool,
    pub run: RunView,
}

/// A run of a skill, as far as the caller of a tool needs it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillRun {
    /// The id of the run.
    #[schemars(with = "String")]
    pub run: RunId,
    pub skill: String,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    #[schemars(schema_with = "words_or_null::<Outcome>")]
    pub outcome: Option<Outcome>,
    pub outputs: Value,
    pub error: Option<RunError>,
    /// What it waits for, for people.
    pub waiting_for: Option<String>,
    /// Questions that wait for an answer before the run continues.
    pub approvals: Vec<ApprovalView>,
    pub duration_ms: Option<u64>,
}

impl SkillRun {
    /// A run with its open questions.
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

/// The result of a tool that returns text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextResult {
    pub result: String,
}

/// Why a call failed: the value of `_meta["deft/error"]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallError {
    /// A stable word for programs.
    pub code: String,
    /// The kind of failure, as retries select it.
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    pub hint: Option<String>,
}

/// A skill with the list of its files (SEP-2640).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillEntry {
    /// The address of its `SKILL.md`.
    pub uri: String,
    /// The frontmatter of that file, as written.
    pub frontmatter: Object,
    /// All of its files.
    pub resources: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillFile {
    pub uri: String,
    /// `sha256:` and the hash in hexadecimal digits.
    pub digest: String,
    /// In bytes.
    pub size: u64,
}

/// How long and by whom a result may be kept, and what kind of result it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultHead {
    /// Always `complete`.
    pub result_type: String,
    pub ttl_ms: u64,
    /// Always `private`: the skills of a home are for its owner.
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
