//! Chats, for all front ends that talk: the terminal, Telegram, others later.
//!
//! A front end uses a [`Talk`] and not the engine, so that tests can use one with scripted answers. The real
//! one is in `host.rs`.
//!
//! Not here: displaying answers.

#![allow(missing_docs, reason = "fields are named after what they hold")]

mod attach;
mod calls;
mod controls;
mod conversations;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of two crates use it")]
#[path = "../../tests/support/fake.rs"]
pub(crate) mod fake;
mod host;
mod live;
mod request;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use deft_model::{Object, RunId, Usd};
use deft_wire::Done;
use deft_wire::budget::Spending;
use deft_wire::chat::{ChatAnswer, ChatMessage, ChatUsage, ConversationView, PromptView};

use crate::ask::{Answer, Question, Response};
#[cfg(test)]
use crate::ask::{Operation, StepPath};
use crate::words::format_count;

pub use attach::{AttachedFile, AttachedText, attach};
pub use calls::CallLog;
pub use conversations::{ConversationQuery, conversation_cursor};
pub use deft_engine::{AnswerState, Attention, NewChatMessage};
pub use host::host;
pub use request::{find_conversation, resume_and_wait, say_and_wait};

/// The future of a result.
pub type TalkFuture<'a, T> = Pin<Box<dyn Future<Output = Done<T>> + Send + 'a>>;

/// Receives live events during the work on an answer.
pub type Listener = Arc<dyn Fn(Live) + Send + Sync>;

/// Formats the usage of a chat for display.
pub fn describe_usage(usage: &ChatUsage) -> String {
    let calls = usize::try_from(usage.llm_calls).unwrap_or(usize::MAX);
    let calls = format_count(calls, "call");
    let tokens = format!(
        "{} tokens in, {} out",
        usage.input_tokens, usage.output_tokens
    );
    match usage.cost_usd {
        Some(cost) => format!("{calls} of a model, {tokens}, {}", dollars(cost)),
        None => format!("{calls} of a model, {tokens}; no price is known"),
    }
}

/// Formats an amount for display: with two decimals, or six if it is less than a cent.
pub fn dollars(amount: Usd) -> String {
    let amount = amount.dollars();
    if amount == 0.0 || amount >= 0.01 {
        format!("{amount:.2} USD")
    } else {
        format!("{amount:.6} USD")
    }
}

/// A live event during the work on an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    /// A piece of the answer's text.
    Text(String),
    /// The text since the last call is discarded: the model is asked again.
    Again,
    /// A tool call begins; `depth` is the distance of its agent from the first one.
    ToolBegun {
        tool: String,
        args: Object,
        depth: usize,
    },
    ToolEnded {
        tool: String,
        ok: bool,
        ms: u64,
        /// The error.
        note: Option<String>,
    },
    /// A call was refused.
    Refused { tool: String, reason: String },
    /// The model called a tool that was not offered to it. The tool is offered now, and the model gets its
    /// description.
    Hidden { tool: String, reason: String },
    /// A model has replied; its usage.
    Replied {
        input_tokens: u64,
        output_tokens: u64,
    },
    /// An agent is dispatched; `depth` is the distance of the dispatching agent from the first one.
    Dispatched {
        agent: String,
        mission: String,
        depth: usize,
    },
    AgentEnded {
        agent: String,
        depth: usize,
        /// The error, if it failed.
        note: Option<String>,
    },
    /// The run waits, for example for an answer or for budget.
    Waiting { reason: String },
}

/// A conversation and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub view: ConversationView,
    /// The last run, if it is not over.
    pub open: Option<OpenRun>,
}

/// A run of a conversation that is not over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    pub run: RunId,
    /// A description of its state, such as "waits for an answer".
    pub state: String,
}

/// A message that has no answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnansweredMessage {
    pub run: RunId,
    pub text: String,
    pub state: AnswerState,
    /// Why it waits, if so.
    pub waits_for: Option<String>,
}

/// A model for chats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatModel {
    /// The name in the configuration.
    pub name: String,
    /// The provider's name for the model.
    pub model: String,
    pub provider: String,
    /// Whether it answers unless another model is chosen.
    pub usual: bool,
}

/// An exchange that was removed from a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneExchange {
    /// The run that answered; its record is kept.
    pub run: Option<RunId>,
    /// The removed message.
    pub text: String,
    /// The tools that the run called.
    pub called: Vec<String>,
}

/// A question with the answer that is in effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedQuestion {
    pub question: String,
    pub answer: Answer,
    pub by: String,
}

/// The controls of a chat.
pub trait ChatControls {
    /// Returns the configured models. The default for `agent`, or for the default agent, is marked as
    /// `usual`.
    fn models<'a>(&'a self, agent: Option<&'a str>) -> TalkFuture<'a, Vec<ChatModel>>;

    /// Returns the model that the user chose for a conversation, if it is still configured.
    fn chosen_model<'a>(&'a self, conversation: &'a str) -> TalkFuture<'a, Option<String>>;

    /// Removes the last exchange of a conversation; `None` if it has none. Fails if the answer is not
    /// complete.
    fn undo<'a>(&'a self, conversation: &'a str) -> TalkFuture<'a, Option<UndoneExchange>>;
}

/// Answers messages, and manages the conversations of a home.
pub trait Talk: ChatControls + Send + Sync + 'static {
    /// Sends a message and waits for the answer. A failed run is also an answer; an error means that no run
    /// was started.
    fn say(
        &self,
        say: NewChatMessage,
        attention: Attention,
        listener: Listener,
    ) -> TalkFuture<'_, ChatAnswer>;

    /// Returns the messages of a conversation without an answer, oldest first.
    fn unanswered_messages<'a>(
        &'a self,
        conversation: &'a str,
    ) -> TalkFuture<'a, Vec<UnansweredMessage>>;

    /// Resumes an answer, or waits for the process that is working on it.
    fn resume(
        &self,
        run: RunId,
        attention: Attention,
        listener: Listener,
    ) -> TalkFuture<'_, ChatAnswer>;

    /// Ensures that a finished answer is queued for a chat, once.
    fn ensure_answer_sent<'a>(&'a self, answer: &'a ChatAnswer, to: &'a str) -> TalkFuture<'a, ()>;

    /// Queues a text for a chat in the outbox; texts with the same key are sent once.
    fn post_text<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> TalkFuture<'a, ()>;

    /// Queues a question for a chat in the outbox, once.
    fn ask<'a>(&'a self, question: Question, to: &'a str) -> TalkFuture<'a, ()>;

    /// Stops an answer in progress.
    fn stop<'a>(&'a self, run: &'a RunId, by: &'a str) -> TalkFuture<'a, ()>;

    /// Returns the prompt for a model, without calling one.
    fn prompt(&self, say: NewChatMessage) -> TalkFuture<'_, PromptView>;

    /// Answers a stored question; `None` if it is no longer open. The first answer is in effect.
    fn decide<'a>(
        &'a self,
        approval: &'a str,
        response: Response,
        by: &'a str,
    ) -> TalkFuture<'a, Option<DecidedQuestion>>;

    /// Returns the ids and descriptions of the skills that an agent may use.
    fn skills<'a>(&'a self, agent: Option<&'a str>) -> TalkFuture<'a, Vec<(String, String)>>;

    /// Fails if the agent does not exist.
    fn check_agent<'a>(&'a self, agent: &'a str) -> TalkFuture<'a, ()>;

    /// Fails if the agent, or the default agent, has no model.
    fn check_model<'a>(&'a self, agent: Option<&'a str>) -> TalkFuture<'a, ()>;

    /// Returns conversations, latest first.
    fn conversations(&self, query: ConversationQuery) -> TalkFuture<'_, Vec<ConversationView>>;

    /// Returns a conversation by its id or a prefix of it. An ambiguous prefix is an error that lists the
    /// matches.
    fn conversation<'a>(&'a self, id: &'a str) -> TalkFuture<'a, Option<Conversation>>;

    /// Returns the messages of a conversation.
    fn messages<'a>(&'a self, id: &'a str) -> TalkFuture<'a, Vec<ChatMessage>>;

    /// Returns messages that contain the words, latest first.
    fn search<'a>(&'a self, words: &'a str, limit: u32) -> TalkFuture<'a, Vec<ChatMessage>>;

    /// Deletes a conversation.
    fn delete<'a>(&'a self, id: &'a str) -> TalkFuture<'a, bool>;

    /// Returns the usage of today.
    fn spending(&self) -> TalkFuture<'_, Spending>;

    /// Resumes a paused agent. Returns false if it was not paused.
    fn resume_agent<'a>(&'a self, agent: &'a str) -> TalkFuture<'a, bool>;
}
