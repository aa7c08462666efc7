//! Request bodies, query parameters and responses that exist only in the HTTP API.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Object, Outcome, RunStatus};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::{ApprovalAnswer, ApprovalView};
use crate::chat::ConversationView;
use crate::job::JobView;
use crate::notice::NoticeView;
use crate::problem::ProblemView;
use crate::run::ListedRun;
use crate::schema::words;

/// One page of runs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunPage {
    pub runs: Vec<ListedRun>,
    /// `cursor` of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// One page of jobs, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobPage {
    pub jobs: Vec<JobView>,
    /// When jobs were halted; null if they are not halted.
    #[schemars(with = "Option<String>")]
    pub halted_since: Option<Timestamp>,
    pub next_cursor: Option<String>,
}

/// One page of notices, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoticePage {
    pub notices: Vec<NoticeView>,
    pub next_cursor: Option<String>,
}

/// One page of conversations, the one with the latest message first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationPage {
    pub conversations: Vec<ConversationView>,
    pub next_cursor: Option<String>,
}

/// Query parameters for one page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageQuery {
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of entries, up to 500. Default: 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Query parameters for listing runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunListQuery {
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of runs, up to 500. Default: 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Only runs of this skill.
    pub skill: Option<String>,
    /// Only runs in this state.
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: Option<RunStatus>,
    /// Only runs with this outcome.
    #[schemars(schema_with = "words::<Outcome>")]
    pub outcome: Option<Outcome>,
    /// Whether to include runs that answer chat messages.
    pub chats: Option<bool>,
}

/// Query parameters for listing notices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoticeListQuery {
    pub cursor: Option<String>,
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
    /// Only notices that deft stopped trying to deliver.
    pub dead: Option<bool>,
}

/// Query parameters for listing facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FactListQuery {
    /// Only facts that contain this text, ignoring case.
    pub search: Option<String>,
    pub category: Option<String>,
    pub agent: Option<String>,
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Query parameter that makes a request wait for its run to end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WaitQuery {
    /// Seconds to wait, up to 300. Without it, the response comes immediately.
    #[schemars(range(max = 300))]
    pub wait: Option<u32>,
}

/// Request to start a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRunRequest {
    /// The id or name of the skill.
    pub skill: String,
    #[serde(default)]
    pub inputs: Object,
    /// Permanent idempotency key of the run, used if the header `Idempotency-Key` is absent.
    #[serde(default)]
    pub key: Option<String>,
}

/// Request to resume a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResumeRequest {
    /// Whether to continue with the revision of the run if the skill has changed since.
    pub old_revision: bool,
}

/// Request to repeat a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RerunRequest {
    /// The step to begin with; results of earlier steps are reused. Default: the first step.
    pub from: Option<String>,
}

/// Query parameters for listing skills.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillListQuery {
    /// Only skills that contain all of these words.
    pub search: Option<String>,
    pub domain: Option<String>,
    pub tag: Option<String>,
}

/// The text of a skill's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillSource {
    pub skill: String,
    pub path: String,
    pub text: String,
    /// SHA-256 of the text; required when writing the file.
    pub hash: String,
    /// Whether the file belongs to this home and can be written.
    pub writable: bool,
}

/// Request to replace the text of a skill's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillWrite {
    pub text: String,
    /// `hash` of the text that the new one is based on. The write fails if the file has changed since.
    pub base_hash: String,
}

/// Request to check the text of a skill file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidateRequest {
    /// Path that the file would have below the skills folder: `notes/SKILL.md`, `report.yaml`.
    pub path: String,
    pub text: String,
}

/// Request to give a skill a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleRequest {
    /// The schedule: `every 2 hours`, `at 17:30`, a cron expression, …
    pub when: String,
    /// Time zone. Default: the zone of the home.
    #[serde(default)]
    pub zone: Option<String>,
}

/// Query parameters for the next fires of a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FiresQuery {
    /// Only runs after this time. Default: now.
    pub from: Option<String>,
    /// Number of runs, up to 1000. Default: 10.
    #[schemars(range(min = 1, max = 1000))]
    pub count: Option<u32>,
}

/// Query parameters for previewing a schedule expression.
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

/// Query parameters for listing approvals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApprovalListQuery {
    /// Whether to include answered approvals.
    pub all: Option<bool>,
}

/// Request to approve an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApproveRequest {
    /// Whether to approve the same operation from now on.
    pub always: bool,
}

/// Request to reject an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RejectRequest {
    /// Whether to skip the step and continue the run.
    pub skip: bool,
}

/// Query parameters for listing tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolListQuery {
    /// Only tools whose name or description contains all of these words.
    pub search: Option<String>,
    /// Only tools of this server.
    pub server: Option<String>,
}

/// Request to call a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolCallRequest {
    pub arguments: Object,
    /// Timeout of the call in seconds, up to 300.
    #[schemars(range(min = 1, max = 300))]
    pub timeout: Option<u32>,
}

/// Request to change a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SettingRequest {
    /// The value, written as on the command line.
    pub value: String,
}

/// Request to queue a job: the arguments of the tool `queue_task`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct JobRequest(pub Object);

/// Request to send undelivered notices again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoticeRetryRequest {
    /// Id of one notice. Default: all notices that deft stopped trying to deliver.
    pub id: Option<i64>,
}

/// Response to a request to cancel a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CancelView {
    pub run: crate::run::RunView,
    /// Whether the run had ended before the request.
    pub was_over: bool,
}

/// Message from a client on the WebSocket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum SocketRequest {
    /// Answers an approval, in response to a `confirmation_required` event.
    Confirm {
        /// Id of the approval or a prefix of it, or the id of the run that asks.
        id: String,
        answer: ApprovalAnswer,
        /// Whether a `yes` approves the same operation from now on.
        #[serde(default)]
        always: bool,
    },
}

/// Message to a client on the WebSocket, other than an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SocketReply {
    /// The answer was stored.
    Confirmed { approval: Box<ApprovalView> },
    /// The client's message could not be processed.
    Error { problem: ProblemView },
}
