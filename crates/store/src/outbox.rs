//! Notices: messages to people that wait to be sent.
//!
//! The store keeps a message until a courier reports its delivery. It sends nothing and knows no
//! channels.

use deft_model::RunId;
use jiff::Timestamp;

use crate::Answer;

/// Messages to people. See [`Store`](crate::Store) for what holds for every method.
pub trait Outbox: Send + Sync {
    /// Queues a message that belongs to no run; the same key is stored once.
    fn add_notice(&self, notice: NewNotice) -> Answer<'_, bool>;

    /// Takes due messages for a courier that will try to send them before `until`.
    fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<NoticeRow>>;

    /// Stores the result of an attempt to send.
    fn end_notice(&self, id: i64, end: NoticeEnd, at: Timestamp) -> Answer<'_, ()>;

    /// Stores how many parts of a message have arrived, so that no later attempt sends them again.
    fn keep_parts(&self, id: i64, parts: u32) -> Answer<'_, ()>;

    /// Messages, newest first.
    fn notices(&self, filter: NoticeFilter) -> Answer<'_, Vec<NoticeRow>>;

    /// How many messages match; the limit is ignored.
    fn count_notices(&self, filter: NoticeFilter) -> Answer<'_, u64>;

    /// When the next message is due.
    fn next_notice(&self) -> Answer<'_, Option<Timestamp>>;

    /// Makes messages due again whose sending was given up; all of them, or one.
    fn retry_notices(&self, id: Option<i64>, at: Timestamp) -> Answer<'_, u64>;
}

/// A message that belongs to no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotice {
    /// The same message is sent once.
    pub key: String,
    /// The skill that it is about.
    pub skill: Option<String>,
    /// What is sent and where, JSON.
    pub body: String,
    /// When.
    pub at: Timestamp,
}

/// The delivery state of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeStatus {
    /// It waits to be sent.
    Queued,
    /// The receiver has confirmed it.
    Sent,
    /// deft gave up sending it.
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

    pub(crate) fn from_word(word: &str) -> Option<Self> {
        [Self::Queued, Self::Sent, Self::Dead]
            .into_iter()
            .find(|status| status.word() == word)
    }
}

/// A message and its delivery state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// Its number.
    pub id: i64,
    /// The run it belongs to.
    pub run: Option<RunId>,
    /// The skill it is about.
    pub skill: Option<String>,
    /// What it is, among the messages of its run.
    pub key: String,
    /// What is sent and where, JSON.
    pub body: String,
    /// When it was left.
    pub at: Timestamp,
    /// Its delivery state.
    pub status: NoticeStatus,
    /// The number of attempts.
    pub attempts: u32,
    /// How many parts of it have arrived, where the receiver takes it in several.
    pub parts: u32,
    /// The next attempt.
    pub try_at: Option<Timestamp>,
    /// What the receiver answered.
    pub receipt: Option<String>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// When it was sent or given up.
    pub ended_at: Option<Timestamp>,
}

/// The result of an attempt to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeEnd {
    /// It arrived.
    Sent {
        /// What the receiver answered.
        receipt: String,
    },
    /// It did not; another attempt follows.
    Again {
        /// When.
        at: Timestamp,
        /// Why.
        error: String,
    },
    /// The channel was not available. This does not use up an attempt.
    Later {
        /// When to look again.
        at: Timestamp,
        /// Why.
        error: String,
    },
    /// It did not, and no attempt follows.
    Dead {
        /// Why.
        error: String,
    },
}

/// Which messages to list.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NoticeFilter {
    /// Of this run.
    pub run: Option<RunId>,
    /// In this state.
    pub status: Option<NoticeStatus>,
    /// Older than the message with this number, for the next page of a long list.
    pub before: Option<i64>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}
