//! Messages to people, and whether they arrived.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::RunId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a message so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeStatus {
    /// It waits to be sent.
    Queued,
    /// The receiver has confirmed it.
    Sent,
    /// deft has given it up.
    Dead,
}

impl NoticeStatus {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Dead => "dead",
        }
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// A skill said something with the `notify` tool.
    Message,
    /// A run succeeded.
    Completion,
    /// A run failed.
    Failure,
    /// A run could not begin or continue, because something it needs is missing.
    Blocked,
    /// A run was interrupted inside a step that must not be repeated without asking.
    Interrupted,
    /// A skill was disabled after failures.
    Disabled,
    /// What failed works again.
    Recovery,
    /// A run waits for the answer of a person.
    Question,
    /// The answer to a message, for the chat it came from.
    Answer,
    /// An agent was paused because it used too much.
    Paused,
    /// Something about deft itself has changed.
    Health,
}

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticeBody {
    pub kind: NoticeKind,
    pub title: String,
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Where to; the default channel when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The question that it asks, where the receiver can answer at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// Whether a yes to that question may hold for all calls of its tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub always: bool,
}

/// A message in the outbox.
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

/// The answer to `notices retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoticesQueued {
    /// How many messages are sent again.
    pub queued: u64,
}
