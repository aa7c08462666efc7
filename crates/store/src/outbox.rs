//! Messages for people, facts, and the few switches of the engine.
//!
//! The store keeps messages until somebody says what became of them. It sends nothing and does not
//! know where to.

use deft_model::RunId;
use jiff::Timestamp;

use crate::Answer;

/// Where messages, facts and switches are kept.
pub trait Outbox: Send + Sync {
    /// Leaves a message that belongs to no run; the same key is kept once.
    fn add_notice(&self, notice: NewNotice) -> Answer<'_, bool>;

    /// Gives messages that are due to somebody who will try to send them before `until`.
    fn take_notices(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Answer<'_, Vec<NoticeRow>>;

    /// Says what came of a try.
    fn end_notice(&self, id: i64, end: NoticeEnd, at: Timestamp) -> Answer<'_, ()>;

    /// Remembers how many parts of a message have arrived, so that no later try sends them again.
    fn keep_parts(&self, id: i64, parts: u32) -> Answer<'_, ()>;

    /// Messages, newest first.
    fn notices(&self, filter: NoticeFilter) -> Answer<'_, Vec<NoticeRow>>;

    /// How many messages fit; the limit does not count.
    fn count_notices(&self, filter: NoticeFilter) -> Answer<'_, u64>;

    /// When the next message is due.
    fn next_notice(&self) -> Answer<'_, Option<Timestamp>>;

    /// Makes messages due again that were given up; all of them, or one.
    fn retry_notices(&self, id: Option<i64>, at: Timestamp) -> Answer<'_, u64>;

    /// Keeps a fact, unless one of its kind says the same but for the case of Latin letters. Says
    /// which fact is kept now, and whether it is this one. Whoever saves at the same time gets the
    /// same one.
    fn save_fact(&self, fact: NewFact) -> Answer<'_, (FactRow, bool)>;

    /// Forgets a fact. Says whether there was one. Its number is never given to another one, so that
    /// a call that is repeated cannot hit what was kept since.
    fn delete_fact(&self, id: i64) -> Answer<'_, bool>;

    /// Facts, newest first.
    fn facts(&self, filter: FactFilter) -> Answer<'_, Vec<FactRow>>;

    /// Lets no run of a skill be claimed, or lets them again.
    fn hold(&self, skill: &str, held: bool, at: Timestamp) -> Answer<'_, ()>;

    /// Since when the runs of a skill are held.
    fn held(&self, skill: &str) -> Answer<'_, Option<Timestamp>>;

    /// A value that was kept under a name.
    fn setting(&self, name: &str) -> Answer<'_, Option<String>>;

    /// Keeps a value under a name.
    fn keep_setting(&self, name: &str, value: &str) -> Answer<'_, ()>;
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

/// What became of a message so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeStatus {
    /// It waits to be sent.
    Queued,
    /// Whoever receives it has confirmed it.
    Sent,
    /// Nobody tries any more.
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

/// A message and what became of it.
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
    /// Where it stands.
    pub status: NoticeStatus,
    /// How often it was tried.
    pub attempts: u32,
    /// How many parts of it have arrived, where the receiver takes it in several.
    pub parts: u32,
    /// When it is tried next.
    pub try_at: Option<Timestamp>,
    /// What the receiver answered.
    pub receipt: Option<String>,
    /// Why the last try failed.
    pub error: Option<String>,
    /// When it was sent or given up.
    pub ended_at: Option<Timestamp>,
}

/// What came of a try to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeEnd {
    /// It arrived.
    Sent {
        /// What the receiver answered.
        receipt: String,
    },
    /// It did not; another try follows.
    Again {
        /// When.
        at: Timestamp,
        /// Why.
        error: String,
    },
    /// Nobody could even try, because what carries it is not there; that counts for no try.
    Later {
        /// When to look again.
        at: Timestamp,
        /// Why.
        error: String,
    },
    /// It did not, and no try follows.
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
    /// Which stand so.
    pub status: Option<NoticeStatus>,
    /// Older than the message with this number, for the next page of a long list.
    pub before: Option<i64>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// A fact that is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFact {
    /// Who keeps it.
    pub agent_id: String,
    /// The kind of fact, such as `error`.
    pub category: String,
    /// What is known.
    pub text: String,
    /// Where it comes from, such as a run.
    pub source: Option<String>,
    /// When.
    pub at: Timestamp,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Its number.
    pub id: i64,
    /// What is kept.
    pub fact: NewFact,
}

/// Which facts to list.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FactFilter {
    /// Of this agent.
    pub agent_id: Option<String>,
    /// Of this kind.
    pub category: Option<String>,
    /// That contain these words.
    pub text: Option<String>,
    /// At most so many.
    pub limit: Option<u32>,
}
