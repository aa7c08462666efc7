//! Notices: messages to people that wait to be sent.
//!
//! The store keeps a notice until its delivery is reported. It sends nothing and has no notion of channels.

use deft_model::RunId;
use jiff::Timestamp;

use crate::Answer;

/// The outbox. See [`Store`](crate::Store) for the rules that all methods follow.
pub trait Outbox: Send + Sync {
    /// Queues a notice that belongs to no run, unless its key is already stored. Returns whether it was
    /// added.
    fn add_notice(&self, notice: NewNotice) -> Answer<'_, bool>;

    /// Returns due notices and postpones them to `until`: the caller should try to send them before.
    fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<NoticeRow>>;

    /// Stores the result of a delivery attempt.
    fn end_notice(&self, id: i64, end: NoticeEnd, at: Timestamp) -> Answer<'_, ()>;

    /// Stores how many parts of a notice have arrived, so that later attempts do not send them again.
    fn keep_parts(&self, id: i64, parts: u32) -> Answer<'_, ()>;

    /// Returns the notices that match, newest first.
    fn notices(&self, filter: NoticeFilter) -> Answer<'_, Vec<NoticeRow>>;

    /// Returns the number of notices that match; the limit is ignored.
    fn count_notices(&self, filter: NoticeFilter) -> Answer<'_, u64>;

    /// Returns when the next notice is due.
    fn next_notice(&self) -> Answer<'_, Option<Timestamp>>;

    /// Makes notices due again whose delivery was abandoned: one, or all with `None`. Returns how many.
    fn retry_notices(&self, id: Option<i64>, at: Timestamp) -> Answer<'_, u64>;
}

/// A notice that belongs to no run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotice {
    /// Identifies the notice; notices with the same key are sent once.
    pub key: String,
    /// The skill that the notice concerns.
    pub skill: Option<String>,
    /// Content and destination, JSON.
    pub body: String,
    /// When it is queued.
    pub at: Timestamp,
}

/// The delivery state of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeStatus {
    /// Waiting to be sent.
    Queued,
    /// Confirmed by the receiver.
    Sent,
    /// Abandoned.
    Dead,
}

impl NoticeStatus {
    /// Returns the word for the status.
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

/// A notice and its delivery state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeRow {
    /// The number.
    pub id: i64,
    /// The run that it belongs to.
    pub run: Option<RunId>,
    /// The skill that it concerns.
    pub skill: Option<String>,
    /// Identifies the notice among those of its run.
    pub key: String,
    /// Content and destination, JSON.
    pub body: String,
    /// When it was queued.
    pub at: Timestamp,
    /// Its delivery state.
    pub status: NoticeStatus,
    /// The number of attempts.
    pub attempts: u32,
    /// The number of parts that have arrived, if the receiver takes it in several.
    pub parts: u32,
    /// When the next attempt is due.
    pub try_at: Option<Timestamp>,
    /// The reply of the receiver.
    pub receipt: Option<String>,
    /// Why the last attempt failed.
    pub error: Option<String>,
    /// When it was sent or abandoned.
    pub ended_at: Option<Timestamp>,
}

/// The result of a delivery attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeEnd {
    /// The notice arrived.
    Sent {
        /// The reply of the receiver.
        receipt: String,
    },
    /// The attempt failed; another one follows.
    Again {
        /// When the next attempt is due.
        at: Timestamp,
        /// Why it failed.
        error: String,
    },
    /// The channel was not available. This does not use up an attempt.
    Later {
        /// When the next attempt is due.
        at: Timestamp,
        /// Why it was not available.
        error: String,
    },
    /// The attempt failed and no other one follows.
    Dead {
        /// Why it failed.
        error: String,
    },
}

/// A filter for lists of notices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct NoticeFilter {
    /// Only notices of this run.
    pub run: Option<RunId>,
    /// Only notices in this state.
    pub status: Option<NoticeStatus>,
    /// Only notices older than the one with this number, for the next page of a long list.
    pub before: Option<i64>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}
