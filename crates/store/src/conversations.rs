//! Conversations: stored and searchable messages. The transcript of a fired skill is one of them (S2.35).
//!
//! The store numbers messages and searches their words. It does not interpret roles or bodies, and does not
//! decide which part of a conversation a model gets.

use deft_model::{MessageRole, RunId};
use jiff::Timestamp;

use crate::Answer;

/// Storage of conversations. See [`Store`](crate::Store) for the rules that all methods follow.
///
/// Messages of a run are stored with its batches ([`Write::Say`](crate::Write::Say)). Several runs may write
/// to one conversation concurrently; messages are ordered by commit.
///
/// Words are sequences of letters and digits; case is ignored. A text matches a query if each word of the
/// query is a prefix of a word of the text; a query without words matches nothing.
pub trait Conversations: Send + Sync {
    /// Opens a conversation, or returns the existing one with this id unchanged.
    fn open_conversation(&self, new: NewConversation) -> Answer<'_, ConversationRow>;

    /// Returns a conversation by its id.
    fn conversation(&self, id: &str) -> Answer<'_, Option<ConversationRow>>;

    /// Returns the conversations that match, the one with the latest message first.
    fn conversations(&self, filter: ConversationFilter) -> Answer<'_, Vec<ConversationRow>>;

    /// Returns messages of a conversation with a number above `after_seq`, in order.
    fn messages(&self, id: &str, after_seq: u64, limit: u32) -> Answer<'_, Vec<MessageRow>>;

    /// Adds messages outside of a batch. Returns the number of the last message of the conversation, or
    /// `None` if the conversation does not exist.
    fn append_messages(
        &self,
        id: &str,
        run: Option<&RunId>,
        messages: Vec<NewMessage>,
    ) -> Answer<'_, Option<u64>>;

    /// Returns messages whose text matches the query, the most recently stored first, including those of
    /// archived conversations.
    fn search_conversations(&self, query: &str, limit: u32) -> Answer<'_, Vec<SearchHit>>;

    /// Changes the title of a conversation. Returns whether it exists.
    fn rename_conversation(&self, id: &str, title: &str) -> Answer<'_, bool>;

    /// Archives a conversation at an instant, or unarchives it with `None`. Returns whether it exists.
    fn archive_conversation(&self, id: &str, at: Option<Timestamp>) -> Answer<'_, bool>;

    /// Deletes the messages of a conversation with a number above `after_seq`. Returns how many were
    /// deleted. Their numbers are used again.
    fn cut_conversation(&self, id: &str, after_seq: u64) -> Answer<'_, u64>;

    /// Deletes a conversation with its messages. Returns whether it existed. Messages that a run adds
    /// afterwards are dropped.
    fn delete_conversation(&self, id: &str) -> Answer<'_, bool>;
}

/// A conversation to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// The id, `conv_…`.
    pub id: String,
    /// The agent that answers.
    pub agent: String,
    /// The channel: `cli`, `telegram:CHAT`, `skill:ID`, …
    pub channel: String,
    /// The subject, for people.
    pub title: String,
    /// The run that opens it.
    pub run: Option<RunId>,
    /// When it is opened.
    pub at: Timestamp,
}

/// A stored conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// The id.
    pub id: String,
    /// The agent that answers.
    pub agent: String,
    /// The channel.
    pub channel: String,
    /// The subject, for people.
    pub title: String,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When the last message was added, or when it was opened.
    pub updated_at: Timestamp,
    /// The number of messages, which is also the number of the last one.
    pub message_count: u64,
    /// The last run that added a message, or the run that opened it.
    pub run: Option<RunId>,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
}

/// A message to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The author.
    pub role: MessageRole,
    /// The message, JSON.
    pub body: String,
    /// The searchable text; empty if the message is not searchable.
    pub text: String,
    /// When it was sent.
    pub at: Timestamp,
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// The conversation.
    pub conversation: String,
    /// The number in the conversation, from 1 without gaps.
    pub seq: u64,
    /// The author.
    pub role: MessageRole,
    /// The message, JSON.
    pub body: String,
    /// The searchable text.
    pub text: String,
    /// The run that added it.
    pub run: Option<RunId>,
    /// When it was sent.
    pub at: Timestamp,
}

/// A filter for lists of conversations. With a channel and a limit of 1, it selects the newest conversation
/// of the channel.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConversationFilter {
    /// Only conversations of this agent.
    pub agent: Option<String>,
    /// Only conversations in this channel.
    pub channel: Option<String>,
    /// Only conversations whose title or a message matches these words.
    pub query: Option<String>,
    /// Include archived conversations.
    pub archived: bool,
    /// Only conversations that a list has after this one.
    pub after: Option<ConversationCursor>,
    /// Maximum number of results.
    pub limit: Option<u32>,
}

/// A position in a list of conversations, which has the one with the latest message first. A conversation that gets a
/// message moves to the front, so the position also holds the instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationCursor {
    /// When the conversation had changed last.
    pub updated_at: Timestamp,
    /// The conversation.
    pub id: String,
}

/// A message found by a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The conversation.
    pub conversation: String,
    /// The channel of the conversation.
    pub channel: String,
    /// The title of the conversation.
    pub title: String,
    /// The number of the message in the conversation.
    pub seq: u64,
    /// The author.
    pub role: MessageRole,
    /// When it was sent.
    pub at: Timestamp,
    /// The part of its text around the first matching word, on one line.
    pub snippet: String,
}
