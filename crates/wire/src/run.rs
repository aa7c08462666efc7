//! Types of runs: in lists, with their steps, and as archives with everything stored of them.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{
    Cause, FailureClass, Object, Outcome, ProblemCode, RunId, RunStatus, Tier, Usage, WaitKind,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::EventView;
use crate::interruption::{IdleTime, Interruption, StepPosition};
use crate::notice::NoticeStatus;
use crate::schema::{words, words_or_null};

/// A run without its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    #[schemars(with = "String")]
    pub id: RunId,
    pub skill: String,
    pub revision: String,
    #[schemars(schema_with = "words::<Tier>")]
    pub tier: Tier,
    pub agent_id: String,
    /// What fired the run.
    #[schemars(with = "String")]
    pub cause: Cause,
    /// Slot of the run; the first one if the run covers several slots.
    #[schemars(with = "Option<String>")]
    pub slot: Option<Timestamp>,
    /// Last slot, if the run covers several.
    #[schemars(with = "Option<String>")]
    pub slot_until: Option<Timestamp>,
    /// Number of slots that the run covers.
    pub slot_count: u64,
    pub key: Option<String>,
    /// The run that this one repeats.
    #[schemars(with = "Option<String>")]
    pub parent: Option<RunId>,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    #[schemars(schema_with = "words_or_null::<Outcome>")]
    pub outcome: Option<Outcome>,
    /// What the run waits for, as text for people.
    pub waiting_for: Option<String>,
    /// What kind of thing the run waits for. Only for front ends in this process.
    #[serde(skip)]
    pub waiting_kind: Option<WaitKind>,
    pub inputs: Value,
    pub outputs: Value,
    pub error: Option<RunError>,
    #[schemars(with = "UsageShape")]
    pub usage: Usage,
    #[schemars(with = "String")]
    pub admitted_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub started_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub finished_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListedRun {
    #[serde(flatten)]
    pub run: RunView,
    /// Whether the process that drove the run has ended.
    pub owner_gone: bool,
    #[serde(flatten)]
    pub idle: IdleTime,
}

impl ListedRun {
    /// Like [`RunDetail::worked_ms`].
    pub fn worked_ms(&self) -> Option<u64> {
        Some(self.idle.worked_ms(self.run.duration_ms?))
    }
}

/// Schema of [`Usage`].
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct UsageShape {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: f64,
    llm_calls: u64,
    /// Calls interrupted by a crash; absent if zero.
    #[serde(default, skip_serializing_if = "crate::interruption::is_zero")]
    estimated_calls: u64,
}

/// Why a run did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunError {
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "words::<ProblemCode>")]
    pub code: Option<ProblemCode>,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the failed call may have taken effect nevertheless.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_doubt: bool,
    /// Whether nothing was called because a tool or its server is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// The outage that caused the error and affects other skills too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// Step or loop item that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// A resource that skills share and that does not work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outage {
    Server(String),
    Model(String),
    Tool(String),
    NoModel,
}

/// A run with its steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDetail {
    #[serde(flatten)]
    pub run: RunView,
    /// Why the check before the run could not be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_failed: Option<String>,
    /// Id of the HTTP or MCP request that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    pub steps: Vec<StepView>,
    /// Calls made by agents.
    pub calls: Vec<CallView>,
    /// Notices about the run, with their delivery status.
    pub notices: Vec<RunNotice>,
    /// Interruptions of the run, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interruptions: Vec<Interruption>,
    #[serde(flatten)]
    pub idle: IdleTime,
    /// Whether the process that drove the run has ended; absent if not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_gone: Option<bool>,
}

impl RunDetail {
    /// Returns the step that the run has reached, ignoring steps of nested skills. Returns `None` for a run
    /// without steps.
    pub fn position(&self) -> Option<StepPosition> {
        let own = || self.steps.iter().filter(|step| !step.id.contains('/'));
        let total = own().count();
        let open = own().position(|step| !step.status.has_ended());
        let number = open.map_or(total, |at| at + 1);
        (total > 0).then_some(StepPosition { number, total })
    }

    /// Returns the working time in milliseconds: from start to end, without idle time. Returns `None` before
    /// the end.
    pub fn worked_ms(&self) -> Option<u64> {
        Some(self.idle.worked_ms(self.run.duration_ms?))
    }
}

/// JSON output of `deft runs show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    pub run: RunDetail,
}

/// Status of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    Pending,
    Running,
    Waiting,
    Success,
    Error,
    Skipped,
}

impl StepStatus {
    /// Whether the step has ended.
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Success | Self::Error | Self::Skipped)
    }
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepView {
    /// Id of the step; `outer/inner` for a step of a nested skill.
    pub id: String,
    /// Kind of the step as written in files, such as `tool`.
    #[serde(rename = "type")]
    pub kind: String,
    pub status: StepStatus,
    /// Why the step was skipped, or what it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the wait of the step ends. Only for front ends in this process.
    #[serde(skip)]
    pub until: Option<Timestamp>,
    pub attempts: u32,
    pub result: Value,
    pub error: Option<StepError>,
    #[schemars(with = "Option<String>")]
    pub started_at: Option<Timestamp>,
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemCounts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepError {
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Progress of a loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemCounts {
    pub total: usize,
    pub done: usize,
    pub failed: usize,
    /// Indexes of failed items, counted from 0; at most the first hundred.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_items: Vec<usize>,
}

/// Status of a call of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Waiting,
    Running,
    Success,
    Error,
    Refused,
    /// deft answered the call itself, without calling a tool.
    Answered,
}

/// A call of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallView {
    pub step_id: String,
    /// Number of agents above the caller.
    pub depth: usize,
    pub tool: String,
    pub args: Object,
    pub status: CallStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Why the call was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub duration_ms: Option<u64>,
}

/// A notice about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunNotice {
    pub id: i64,
    pub kind: String,
    pub status: NoticeStatus,
    pub attempts: u32,
    pub receipt: Option<String>,
    pub error: Option<String>,
}

/// JSON output of `deft runs logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventList {
    pub events: Vec<EventView>,
}

/// JSON output of `deft runs prune`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedRuns {
    pub ok: bool,
    pub dry_run: bool,
    pub before: String,
    #[schemars(with = "Vec<String>")]
    pub runs: Vec<RunId>,
    /// When the oldest of these runs ended.
    #[schemars(with = "Option<String>")]
    pub oldest: Option<Timestamp>,
    /// When the newest of these runs ended.
    #[schemars(with = "Option<String>")]
    pub newest: Option<Timestamp>,
    pub events: u64,
    pub cached_results: u64,
}

/// A run with everything stored of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunArchive {
    pub run: RunDetail,
    pub events: Vec<EventView>,
    pub journal: Vec<JournalLine>,
    /// The skill as stored with the run. Its format depends on the version of deft that wrote it.
    pub skill: Value,
}

/// An event as stored. Its format depends on the version of deft that wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalLine {
    pub seq: u64,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub event: Value,
}

/// JSON output of `deft tick`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TickView {
    pub fired: Vec<RunView>,
    pub skipped: Vec<RunView>,
    pub missed: Vec<RunView>,
    pub failed: Vec<RunView>,
    /// Skills that were enabled because their tools became available.
    pub enabled: Vec<String>,
}
