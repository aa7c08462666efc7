//! Conversations: stored and searchable messages. The transcript of a fired skill is
//! one of them (S2.35).
//!
//! The store numbers messages and finds words in them. It does not know what a role means, never
//! looks into a body, and does not decide what a model is told of a conversation.

use deft_model::{MessageRole, RunId};
use jiff::Timestamp;

use crate::Answer;

/// Where conversations are kept. See [`Store`](crate::Store) for what holds for every method.
///
/// Messages of a run come with its batches ([`Write::Say`](crate::Write::Say)). Several runs may
/// say something in one conversation at once; the order is that of their commits.
///
/// Words are runs of letters and digits, whatever their case. A text fits a query if each word of
/// the query begins a word of the text; a query without words fits nothing.
pub trait Conversations: Send + Sync {
    /// Opens a conversation. One that is open under this id already stays as it is.
    fn open_conversation(&self, new: NewConversation) -> Answer<'_, ConversationRow>;

    /// A conversation by its id.
    fn conversation(&self, id: &str) -> Answer<'_, Option<ConversationRow>>;

    /// Conversations, the one in which something was said last first.
    fn conversations(&self, filter: ConversationFilter) -> Answer<'_, Vec<ConversationRow>>;

    /// Messages of a conversation after a number, in their order.
    fn messages(&self, id: &str, after_seq: u64, limit: u32) -> Answer<'_, Vec<MessageRow>>;

    /// Adds messages outside of any batch. Says the number of the last message of the conversation;
    /// none if there is no such conversation.
    fn append_messages(
        &self,
        id: &str,
        run: Option<&RunId>,
        messages: Vec<NewMessage>,
    ) -> Answer<'_, Option<u64>>;

    /// Messages whose text fits the query, the one that was stored last first. Those of
    /// conversations that were put away are found too.
    fn search_conversations(&self, query: &str, limit: u32) -> Answer<'_, Vec<SearchHit>>;

    /// Gives a conversation another title. Says whether there was one.
    fn rename_conversation(&self, id: &str, title: &str) -> Answer<'_, bool>;

    /// Puts a conversation away at an instant, or takes it back. Says whether there was one.
    fn archive_conversation(&self, id: &str, at: Option<Timestamp>) -> Answer<'_, bool>;

    /// Deletes the messages of a conversation after a number. Says how many there were. The next message
    /// gets the first number that is free.
    fn cut_conversation(&self, id: &str, after_seq: u64) -> Answer<'_, u64>;

    /// Deletes a conversation with its messages. Says whether there was one. What a run says in it
    /// afterwards is dropped.
    fn delete_conversation(&self, id: &str) -> Answer<'_, bool>;
}

/// A conversation that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// Its name, `conv_…`.
    pub id: String,
    /// The agent that answers.
    pub agent: String,
    /// Where it takes place: `cli`, `telegram:CHAT`, `skill:ID`, …
    pub channel: String,
    /// What it is about, for people.
    pub title: String,
    /// The run that begins it.
    pub run: Option<RunId>,
    /// When.
    pub at: Timestamp,
}

/// A conversation as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its name.
    pub id: String,
    /// The agent that answers.
    pub agent: String,
    /// Where it takes place.
    pub channel: String,
    /// What it is about, for people.
    pub title: String,
    /// When it began.
    pub created_at: Timestamp,
    /// When something was last said, or when it began.
    pub updated_at: Timestamp,
    /// How many messages it has, which is the number of the last one.
    pub message_count: u64,
    /// The last run that said something, or that began it.
    pub run: Option<RunId>,
    /// When it was put away.
    pub archived_at: Option<Timestamp>,
}

/// Something that is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// Its author.
    pub role: MessageRole,
    /// The message, JSON.
    pub body: String,
    /// The text that a search looks at. Empty for messages that are not searchable.
    pub text: String,
    /// When.
    pub at: Timestamp,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// The conversation.
    pub conversation: String,
    /// Its place in the conversation, from 1 without gaps.
    pub seq: u64,
    /// Its author.
    pub role: MessageRole,
    /// The message, JSON.
    pub body: String,
    /// The text that a search looks at.
    pub text: String,
    /// The run that said it.
    pub run: Option<RunId>,
    /// When.
    pub at: Timestamp,
}

/// Which conversations to list. With a channel and a limit of 1: the newest one there.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConversationFilter {
    /// Of this agent.
    pub agent: Option<String>,
    /// In this channel.
    pub channel: Option<String>,
    /// Whose title fits, or of which a message does.
    pub query: Option<String>,
    /// Those that were put away, too.
    pub archived: bool,
    /// Maximum number of results.
    pub limit: Option<u32>,
}

/// A message that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The conversation.
    pub conversation: String,
    /// Where it takes place.
    pub channel: String,
    /// What it is about.
    pub title: String,
    /// The place of the message in it.
    pub seq: u64,
    /// Its author.
    pub role: MessageRole,
    /// When it was said.
    pub at: Timestamp,
    /// The part of its text around the first word that was found, on one line.
    pub snippet: String,
}
