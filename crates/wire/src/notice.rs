//! Notices and their delivery.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::RunId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Delivery status of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeStatus {
    /// Waiting to be sent.
    Queued,
    /// Confirmed by the receiver.
    Sent,
    /// deft stopped trying to deliver it.
    Dead,
}

impl NoticeStatus {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Dead => "dead",
        }
    }
}

/// Kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// Sent by a skill with the `notify` tool.
    Message,
    /// A run succeeded.
    Completion,
    /// A run failed.
    Failure,
    /// A run could not begin or continue because something it needs is missing.
    Blocked,
    /// A run was interrupted inside a step that must not be repeated without asking.
    Interrupted,
    /// A skill was disabled after repeated failures.
    Disabled,
    /// A failing skill works again.
    Recovery,
    /// A run waits for a person's answer.
    Question,
    /// The answer to a chat message, for the chat it came from.
    Answer,
    /// An agent was paused because it used too many tokens.
    Paused,
    /// The state of deft itself changed.
    Health,
}

/// Content of a notice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeBody {
    pub kind: NoticeKind,
    pub title: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Where to send the notice. Default: the default channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Id of the approval that the notice asks for, if the receiver can answer it directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Whether a `yes` to that approval may apply to all calls of its tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

/// A notice in the outbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeView {
    pub id: i64,
    #[schemars(with = "Option<String>")]
    pub run: Option<RunId>,
    pub skill: Option<String>,
    pub notice: NoticeBody,
    pub status: NoticeStatus,
    pub attempts: u32,
    pub receipt: Option<String>,
    pub error: Option<String>,
    #[schemars(with = "String")]
    pub at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub next_try_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub ended_at: Option<Timestamp>,
}

/// JSON output of `deft notices retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeRetryResult {
    /// Number of notices that are sent again.
    pub queued: u64,
}
