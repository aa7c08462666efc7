//! What HTTP requests ask for and what only HTTP answers have: pages, and the bodies of requests.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Object, Outcome, RunStatus};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalAnswer, ApprovalView};
use crate::job::JobView;
use crate::notice::NoticeView;
use crate::problem::ProblemView;
use crate::run::ListedRun;
use crate::schema::words;

/// Some runs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunPage {
    pub runs: Vec<ListedRun>,
    /// What `cursor` has to be for the next page; null on the last one.
    pub next_cursor: Option<String>,
}

/// Some jobs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPage {
    pub jobs: Vec<JobView>,
    /// Since when no job begins; null if jobs begin.
    #[schemars(with = "Option<String>")]
    pub halted_since: Option<Timestamp>,
    pub next_cursor: Option<String>,
}

/// Some messages, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoticePage {
    pub notices: Vec<NoticeView>,
    pub next_cursor: Option<String>,
}

/// Which page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageQuery {
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// The most entries, up to 500; 50 if it is not given.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Which runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunListQuery {
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// The most runs, up to 500; 50 if it is not given.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Only runs of this skill.
    pub skill: Option<String>,
    /// Only runs in this state.
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: Option<RunStatus>,
    /// Only runs that ended so.
    #[schemars(schema_with = "words::<Outcome>")]
    pub outcome: Option<Outcome>,
    /// Also answers of chats.
    pub chats: Option<bool>,
}

/// Which messages to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoticeListQuery {
    pub cursor: Option<String>,
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Only messages that were given up.
    pub dead: Option<bool>,
}

/// Which facts to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FactListQuery {
    /// Words that a fact contains.
    pub search: Option<String>,
    pub category: Option<String>,
    pub agent: Option<String>,
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// How long to wait for the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WaitQuery {
    /// Seconds, up to 300; without it the answer comes at once.
    #[schemars(range(max = 300))]
    pub wait: Option<u32>,
}

/// A run to start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRunRequest {
    /// The id or name of the skill.
    pub skill: String,
    #[serde(default)]
    pub inputs: Object,
    /// The permanent key of the run, if the header `Idempotency-Key` is not given.
    #[serde(default)]
    pub key: Option<String>,
}

/// A run that is to continue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeRequest {
    /// Continue with the revision of the run even if the skill has changed since.
    pub old_revision: bool,
}

/// A run that is to be made again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RerunRequest {
    /// The step to begin with; results of earlier steps are reused.
    pub from: Option<String>,
}

/// Which skills to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillListQuery {
    /// Words, each of which has to occur.
    pub search: Option<String>,
    pub domain: Option<String>,
    pub tag: Option<String>,
}

/// The file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillSource {
    pub skill: String,
    pub path: String,
    pub text: String,
    /// The SHA-256 of the text; a write has to name it.
    pub hash: String,
    /// Whether the file belongs to this home, so that it may be written.
    pub writable: bool,
}

/// A new text for the file of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillWrite {
    pub text: String,
    /// `hash` of the text that the new one was made from.
    pub base_hash: String,
}

/// A text to check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateRequest {
    /// The name that the file would have, below the folder of skills: `notes/SKILL.md`, `report.yaml`.
    pub path: String,
    pub text: String,
}

/// A schedule in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleRequest {
    /// `every 2 hours`, `at 17:30`, a cron expression, …
    pub when: String,
    /// The zone; that of the home if it is not given.
    #[serde(default)]
    pub zone: Option<String>,
}

/// Which fires of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FiresQuery {
    /// Fires after this instant; now if it is not given.
    pub from: Option<String>,
    /// How many, up to 1000; 10 if it is not given.
    #[schemars(range(min = 1, max = 1000))]
    pub count: Option<u32>,
}

/// When an expression would fire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewQuery {
    pub when: String,
    #[serde(default)]
    pub zone: Option<String>,
    #[serde(default)]
    pub from: Option<String>,
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub count: Option<u32>,
}

/// Which questions to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovalListQuery {
    /// Also questions that are answered.
    pub all: Option<bool>,
}

/// How a yes is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApproveRequest {
    /// It holds for the same operation from now on.
    pub always: bool,
}

/// How a no is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RejectRequest {
    /// The step is left out and the run continues.
    pub skip: bool,
}

/// Which tools to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolListQuery {
    /// Words that have to be in the name or the description.
    pub search: Option<String>,
    /// Only tools of this server.
    pub server: Option<String>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolCallRequest {
    pub arguments: Object,
    /// How many seconds the call may take, up to 300.
    #[schemars(range(min = 1, max = 300))]
    pub timeout: Option<u32>,
}

/// A new value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingRequest {
    /// The value as it is written on the command line.
    pub value: String,
}

/// A job to queue: the arguments of the tool `queue_task`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct JobRequest(pub Object);

/// Messages to send again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoticeRetryRequest {
    /// The number of one message; all that were given up if it is not given.
    pub id: Option<i64>,
}

/// A run that was asked to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelView {
    pub run: crate::run::RunView,
    /// Whether the run was over before the request.
    pub was_over: bool,
}

/// What a client says on the WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SocketRequest {
    /// Answers a question, after `confirmation_required`.
    Confirm {
        /// The question by its id, the beginning of it, or the id of the run that asks.
        id: String,
        answer: ApprovalAnswer,
        /// A yes holds for the same operation from now on.
        #[serde(default)]
        always: bool,
    },
}

/// What a client hears on the WebSocket beside events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketReply {
    /// The answer counts.
    Confirmed { approval: Box<ApprovalView> },
    /// What the client said could not be carried out.
    Error { problem: ProblemView },
}
