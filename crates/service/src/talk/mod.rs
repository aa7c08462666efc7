//! Chats, for everything that talks: the terminal, Telegram, later others.
//!
//! A front end knows a [`Talk`] and no engine, so that tests can use one with scripted answers. `host.rs`
//! has the real one.
//!
//! Not here: what an answer looks like, and where it is shown.

#![allow(missing_docs, reason = "fields are named after what they hold")]

mod attach;
mod calls;
mod controls;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of two crates use it")]
#[path = "../../tests/support/fake.rs"]
pub(crate) mod fake;
mod host;
mod live;
mod request;

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use deft_model::{Object, RunId, RunOrigin, Usd};
use deft_wire::Done;
use deft_wire::budget::Spending;
use deft_wire::chat::{ChatAnswer, ChatMessage, ChatUsage, ConversationView, PromptView};

use crate::ask::{Answer, Asker, Question, Response};
#[cfg(test)]
use crate::ask::{Operation, StepPath};
use crate::words::counted;

pub use attach::{AttachedFile, AttachedText, attach};
pub use calls::CallLog;
pub use host::host;
pub use request::{find_conversation, resume_and_wait, say_and_wait};

/// An answer, some time later.
pub type Later<'a, T> = Pin<Box<dyn Future<Output = Done<T>> + Send + 'a>>;

/// Receives what happens while an answer is worked on.
pub type Listener = Arc<dyn Fn(Live) + Send + Sync>;

/// Something that a person says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Say {
    /// The conversation that it belongs to; a new one when absent.
    pub conversation: Option<String>,
    /// The agent that is to answer.
    pub agent: Option<String>,
    /// Where it is said: `cli`, `telegram:CHAT`.
    pub channel: String,
    /// What.
    pub text: String,
    /// Names it, so that it is answered once however often it is said.
    pub key: Option<String>,
    /// The chat that the answer is left for in the outbox; none where the caller waits for it.
    pub answer_to: Option<String>,
    /// No person reads along who could be asked something.
    pub alone: bool,
    /// The model that is to answer, if not the agent's.
    pub model: Option<String>,
    /// The request that it comes from.
    pub origin: RunOrigin,
}

/// The usage of a chat, for people.
pub fn describe_usage(usage: &ChatUsage) -> String {
    let calls = usize::try_from(usage.llm_calls).unwrap_or(usize::MAX);
    let calls = counted(calls, "call");
    let tokens = format!(
        "{} tokens in, {} out",
        usage.input_tokens, usage.output_tokens
    );
    match usage.cost_usd {
        Some(cost) => format!("{calls} of a model, {tokens}, {}", dollars(cost)),
        None => format!("{calls} of a model, {tokens}; no price is known"),
    }
}

/// Money for people: cents where there are some, and more where there are none.
pub fn dollars(amount: Usd) -> String {
    let amount = amount.dollars();
    if amount == 0.0 || amount >= 0.01 {
        format!("{amount:.2} USD")
    } else {
        format!("{amount:.6} USD")
    }
}

/// Something that happens while an answer is worked on.
#[derive(Clone, Debug, PartialEq)]
pub enum Live {
    /// More of the text.
    Text(String),
    /// The text since the last call counts no more: the model is asked again.
    Again,
    /// A tool is called, by an agent that is so far below the first one.
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
    /// A call was not made.
    Refused { tool: String, reason: String },
    /// A call of a tool that the model was not offered. It is offered now, and the model is told what it
    /// takes.
    Hidden { tool: String, reason: String },
    /// A model has replied: what that took.
    Replied {
        input_tokens: u64,
        output_tokens: u64,
    },
    /// An agent is sent out, by one that is so far below the first one.
    Dispatched {
        agent: String,
        mission: String,
        depth: usize,
    },
    AgentEnded {
        agent: String,
        depth: usize,
        /// Why it did not do what it was to do.
        note: Option<String>,
    },
    /// Nothing goes on until something happens: a question is answered, a budget is there again.
    Waiting { reason: String },
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub view: ConversationView,
    /// The last run, if it has not ended.
    pub open: Option<OpenRun>,
}

/// A run of a conversation that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRun {
    pub run: RunId,
    /// Its state, as in "waits for an answer".
    pub state: String,
}

/// A message that has no answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnansweredMessage {
    pub run: RunId,
    pub text: String,
    pub state: AnswerState,
    /// The reason why it waits, if it does.
    pub waits_for: Option<String>,
}

/// Where an answer stands that is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerState {
    /// The process that worked on it is gone, or its turn has not come.
    Interrupted,
    /// Another process works on it.
    Elsewhere,
    /// It waits for something that the run names.
    Waiting,
}

/// How a caller attends to an answer while it is worked on.
#[derive(Clone, Default)]
pub struct Attention {
    /// A person who can be asked right now.
    pub asker: Option<Arc<dyn Asker>>,
    /// Confirmations are answered with yes; the record names this as the reason.
    pub assume_yes: Option<String>,
    /// A process comes back for runs that wait, so that long waits give the lease back.
    pub parks: bool,
    /// Where the id of the run is put as soon as it is admitted.
    pub admitted: Option<Arc<OnceLock<RunId>>>,
}

/// A model that can answer in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatModel {
    /// Its name in the configuration.
    pub name: String,
    /// Its name at the provider.
    pub model: String,
    pub provider: String,
    /// Whether it answers unless another one is chosen.
    pub usual: bool,
}

/// An exchange that left a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoneExchange {
    /// The run that answered; its record stays.
    pub run: Option<RunId>,
    /// The message that was taken back.
    pub text: String,
    /// The tools that were called.
    pub called: Vec<String>,
}

/// A question with the answer that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedQuestion {
    pub question: String,
    pub answer: Answer,
    pub by: String,
}

/// The controls of a chat.
pub trait ChatControls {
    /// The models that are configured; the one that answers for an agent, or for the default one, is marked.
    fn models<'a>(&'a self, agent: Option<&'a str>) -> Later<'a, Vec<ChatModel>>;

    /// The model that a person chose for a conversation, if it is still configured.
    fn chosen_model<'a>(&'a self, conversation: &'a str) -> Later<'a, Option<String>>;

    /// Takes back the last exchange of a conversation; none if it has none. An answer that is not
    /// complete is a reason to refuse.
    fn undo<'a>(&'a self, conversation: &'a str) -> Later<'a, Option<UndoneExchange>>;
}

/// Answers messages, and knows the conversations of a home.
pub trait Talk: ChatControls + Send + Sync + 'static {
    /// Says something and waits for the answer. That a run fails is an answer too; an error is
    /// that there was none to begin with.
    fn say(&self, say: Say, attention: Attention, listener: Listener) -> Later<'_, ChatAnswer>;

    /// Messages of a conversation without an answer, the oldest first.
    fn unanswered<'a>(&'a self, conversation: &'a str) -> Later<'a, Vec<UnansweredMessage>>;

    /// Resumes an answer, or waits for the process that works on it.
    fn go_on(&self, run: RunId, attention: Attention, listener: Listener) -> Later<'_, ChatAnswer>;

    /// Makes sure that a finished answer is on its way to a chat, once.
    fn see_to_answer<'a>(&'a self, answer: &'a ChatAnswer, to: &'a str) -> Later<'a, ()>;

    /// Leaves words for a chat in the outbox; the same key is said once.
    fn tell<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> Later<'a, ()>;

    /// Leaves a question for a chat in the outbox, once.
    fn ask<'a>(&'a self, question: Question, to: &'a str) -> Later<'a, ()>;

    /// Stops an answer that is worked on.
    fn stop<'a>(&'a self, run: &'a RunId, by: &'a str) -> Later<'a, ()>;

    /// The prompt of a model, without calling one.
    fn prompt(&self, say: Say) -> Later<'_, PromptView>;

    /// Answers a question that is stored; none if it is over. The first answer counts.
    fn decide<'a>(
        &'a self,
        approval: &'a str,
        response: Response,
        by: &'a str,
    ) -> Later<'a, Option<DecidedQuestion>>;

    /// Skills that an agent may use: ids and descriptions.
    fn skills<'a>(&'a self, agent: Option<&'a str>) -> Later<'a, Vec<(String, String)>>;

    /// Why this agent does not exist, or nothing.
    fn check_agent<'a>(&'a self, agent: &'a str) -> Later<'a, ()>;

    /// Why an agent, or the default one, has no model, or nothing.
    fn check_model<'a>(&'a self, agent: Option<&'a str>) -> Later<'a, ()>;

    /// Conversations, the latest first; those of one channel if one is named.
    fn conversations<'a>(
        &'a self,
        channel: Option<&'a str>,
        limit: Option<u32>,
    ) -> Later<'a, Vec<ConversationView>>;

    /// A conversation by its id or by a beginning of it. One that fits several is an error that
    /// names them.
    fn conversation<'a>(&'a self, id: &'a str) -> Later<'a, Option<Conversation>>;

    /// Its messages.
    fn messages<'a>(&'a self, id: &'a str) -> Later<'a, Vec<ChatMessage>>;

    /// Messages in which words were found, the latest first.
    fn search<'a>(&'a self, words: &'a str, limit: u32) -> Later<'a, Vec<ChatMessage>>;

    /// Deletes a conversation.
    fn delete<'a>(&'a self, id: &'a str) -> Later<'a, bool>;

    /// The usage of today.
    fn spending(&self) -> Later<'_, Spending>;

    /// Resumes a paused agent; false if it was not paused.
    fn resume_agent<'a>(&'a self, agent: &'a str) -> Later<'a, bool>;
}
