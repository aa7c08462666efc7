//! A run as programs see it: in lists, with its steps, and with everything that is stored of it.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{
    FailureClass, Object, Outcome, ProblemCode, RunId, RunStatus, Tier, Usage, WaitKind,
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
    /// What fired it.
    pub cause: String,
    /// The planned instant, or the first of the slots that the run stands for.
    #[schemars(with = "Option<String>")]
    pub slot: Option<Timestamp>,
    /// The last of those slots.
    #[schemars(with = "Option<String>")]
    pub slot_until: Option<Timestamp>,
    /// How many slots the run stands for.
    pub slot_count: u64,
    pub key: Option<String>,
    /// The run that it was made from.
    #[schemars(with = "Option<String>")]
    pub parent: Option<RunId>,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    #[schemars(schema_with = "words_or_null::<Outcome>")]
    pub outcome: Option<Outcome>,
    /// What it waits for, for people.
    pub waiting_for: Option<String>,
    /// What kind of thing that is, for front ends in this process.
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
    /// Whether the process that drove the run is gone.
    pub owner_gone: bool,
    #[serde(flatten)]
    pub idle: IdleTime,
}

impl ListedRun {
    /// The same as [`RunDetail::worked_ms`].
    pub fn worked_ms(&self) -> Option<u64> {
        Some(self.idle.worked_ms(self.run.duration_ms?))
    }
}

/// The schema of [`Usage`].
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct UsageShape {
    input_tokens: u64,
    output_tokens: u64,
    cost_usd: f64,
    llm_calls: u64,
    /// Left out when there are none.
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
    /// Whether the call may have taken effect all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_doubt: bool,
    /// Whether nothing was tried, because a tool or its server is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub blocked: bool,
    /// What does not work for other skills either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// The step or item that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// Something that skills share and that does not work.
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
    /// The id of the request over HTTP or MCP that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    pub steps: Vec<StepView>,
    /// What agents called.
    pub calls: Vec<CallView>,
    /// What people were told, and whether it arrived.
    pub notices: Vec<RunNotice>,
    /// Where the run stopped and was continued, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interruptions: Vec<Interruption>,
    #[serde(flatten)]
    pub idle: IdleTime,
    /// Whether the process that drove the run is gone; only where that was looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_gone: Option<bool>,
}

impl RunDetail {
    /// The step that the run is at; steps of nested skills do not count. None for a run without steps.
    pub fn position(&self) -> Option<StepPosition> {
        let own = || self.steps.iter().filter(|step| !step.id.contains('/'));
        let total = own().count();
        let open = own().position(|step| !step.status.is_over());
        let number = open.map_or(total, |at| at + 1);
        (total > 0).then_some(StepPosition { number, total })
    }

    /// How long the run worked: from its start to its end, without the time that it was idle.
    pub fn worked_ms(&self) -> Option<u64> {
        Some(self.idle.worked_ms(self.run.duration_ms?))
    }
}

/// The answer to `runs show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    pub run: RunDetail,
}

/// Where a step stands.
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
    /// Whether nothing follows for the step.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Success | Self::Error | Self::Skipped)
    }
}

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepView {
    /// Its id; `outer/inner` inside a nested skill.
    pub id: String,
    /// Its kind, as files spell it, such as `tool`.
    #[serde(rename = "type")]
    pub kind: String,
    pub status: StepStatus,
    /// Why it was skipped, or what it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The end of the time that it lets pass, for front ends in this process.
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

/// What went wrong with a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepError {
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How far a loop is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemCounts {
    pub total: usize,
    pub done: usize,
    pub failed: usize,
    /// Which of them failed, counted from 0; only the first hundred are named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_items: Vec<usize>,
}

/// Where a call of an agent stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Waiting,
    Running,
    Success,
    Error,
    Refused,
    /// deft answered it itself, without calling anything.
    Answered,
}

/// A call of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallView {
    pub step_id: String,
    /// How many agents are above the one that called.
    pub depth: usize,
    pub tool: String,
    pub args: Object,
    pub status: CallStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Why it was refused or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub duration_ms: Option<u64>,
}

/// A message about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunNotice {
    pub id: i64,
    pub kind: String,
    pub status: NoticeStatus,
    pub attempts: u32,
    pub receipt: Option<String>,
    pub error: Option<String>,
}

/// The answer to `runs logs`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventList {
    pub events: Vec<EventView>,
}

/// The answer to `runs prune`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedRuns {
    pub ok: bool,
    pub dry_run: bool,
    pub before: String,
    #[schemars(with = "Vec<String>")]
    pub runs: Vec<RunId>,
    /// When the first of them ended.
    #[schemars(with = "Option<String>")]
    pub oldest: Option<Timestamp>,
    /// When the last of them ended.
    #[schemars(with = "Option<String>")]
    pub newest: Option<Timestamp>,
    pub events: u64,
    pub cached_results: u64,
}

/// A run with everything that is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunArchive {
    pub run: RunDetail,
    pub events: Vec<EventView>,
    pub journal: Vec<JournalLine>,
    /// The skill as it was stored with the run. Its shape belongs to the version that wrote it.
    pub skill: Value,
}

/// An event as it is stored. Its shape belongs to the version that wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JournalLine {
    pub seq: u64,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub event: Value,
}

/// What `deft tick` did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TickView {
    pub fired: Vec<RunView>,
    pub skipped: Vec<RunView>,
    pub missed: Vec<RunView>,
    pub failed: Vec<RunView>,
    /// Skills that are enabled from now on, because their tools are there.
    pub enabled: Vec<String>,
}
