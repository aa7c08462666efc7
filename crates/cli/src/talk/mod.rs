//! The border between chats and whoever answers in them.
//!
//! Everything that talks (the terminal, Telegram, later others) knows a [`Talk`] and no engine, so that it
//! can be tried with one that answers as it is told. `host.rs` is the one that is real.
//!
//! Not here: what an answer looks like, and where it is shown.

#[cfg(test)]
pub(crate) mod fake;
mod host;
mod live;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use deft_engine::{Attention, Question, Response};
use deft_model::{FailureClass, Object, RunId, Usd};
use deft_workflow::Answer;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::failure::Done;

pub(crate) use deft_engine::AnswerState;
pub(crate) use host::of;
pub(crate) use live::known_cost;

/// An answer, some time later.
pub(crate) type Later<'a, T> = Pin<Box<dyn Future<Output = Done<T>> + Send + 'a>>;

/// Hears what happens while an answer is worked on.
pub(crate) type Listener = Arc<dyn Fn(Live) + Send + Sync>;

/// Something that a person says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Say {
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
    /// The chat that the answer is left for in the outbox; none where somebody waits for it.
    pub answer_to: Option<String>,
    /// Nobody reads along who could be asked something.
    pub alone: bool,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub conversation: String,
    pub run: String,
    /// `running`, `waiting` or `done`.
    pub status: String,
    /// How the run ended, if it did.
    pub outcome: Option<String>,
    pub text: String,
    pub usage: Usage,
    pub error: Option<deft_model::Failure>,
}

impl Said {
    /// The exit code of a program that wanted just this.
    pub(crate) fn exit_code(&self) -> u8 {
        let class = self.error.as_ref().map(|error| error.class);
        match (self.status.as_str(), self.outcome.as_deref(), class) {
            ("waiting", _, _) => 5,
            (_, _, Some(FailureClass::Limit | FailureClass::Budget)) => 6,
            (_, None | Some("success" | "skipped"), _) => 0,
            (_, Some(_), _) => 1,
        }
    }
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_usd: Option<Usd>,
    pub llm_calls: u64,
}

impl Usage {
    /// Both together.
    pub(crate) fn add(&mut self, other: &Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.llm_calls += other.llm_calls;
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or_default() + other.unwrap_or_default()),
        };
    }

    /// As a part of a document.
    pub(crate) fn document(&self) -> Value {
        json!({
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "llm_calls": self.llm_calls,
        })
    }

    /// For people.
    pub(crate) fn words(&self) -> String {
        let calls = crate::output::counted(
            usize::try_from(self.llm_calls).unwrap_or(usize::MAX),
            "call",
        );
        let tokens = format!(
            "{} tokens in, {} out",
            self.input_tokens, self.output_tokens
        );
        match self.cost_usd {
            Some(cost) => format!("{calls} of a model, {tokens}, {}", dollars(cost)),
            None => format!("{calls} of a model, {tokens}; no price is known"),
        }
    }
}

/// Money for people: cents where there are some, and more where there are none.
pub(crate) fn dollars(amount: Usd) -> String {
    let amount = amount.dollars();
    if amount == 0.0 || amount >= 0.01 {
        format!("{amount:.2} USD")
    } else {
        format!("{amount:.6} USD")
    }
}

/// Something that happens while an answer is worked on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Live {
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
        /// What went wrong.
        note: Option<String>,
    },
    /// A call was not made.
    Refused { tool: String, reason: String },
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
pub(crate) struct Conversation {
    pub id: String,
    pub agent: String,
    pub channel: String,
    pub title: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub message_count: u64,
    /// The run that spoke last and is not over, with what it does or waits for. Lists do not say it.
    pub open: Option<(String, String)>,
}

/// A message of a conversation, or one that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub conversation: String,
    pub seq: u64,
    /// `user`, `assistant` or `tool`.
    pub role: String,
    pub text: String,
    pub at: Timestamp,
}

/// Something that was said and has no answer yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub run: RunId,
    pub text: String,
    pub stands: AnswerState,
    /// What it waits for, if it does.
    pub waits_for: Option<String>,
}

/// What was used today.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spending {
    /// Today, in the zone of deft.
    pub day: String,
    pub rows: Vec<Spent>,
    /// Agents that ask no more for now.
    pub paused: Vec<Paused>,
}

/// What was used in one scope, such as `all` or `agent:thinker`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Without the day.
    pub scope: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Millionths of a US dollar.
    pub micros: u64,
    pub calls: u64,
    /// How many of the calls were interrupted by a crash, and the tokens that are estimated for them.
    pub estimated_calls: u64,
    pub estimated_tokens: u64,
    pub reserved_tokens: u64,
    pub reserved_micros: u64,
}

/// An agent that was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Paused {
    pub agent: String,
    pub since: Timestamp,
    pub reason: String,
    /// True when it goes on as soon as its limit allows it.
    pub lifts_itself: bool,
}

/// A question with the answer that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    pub question: String,
    pub answer: Answer,
    pub by: String,
}

/// Somebody who answers.
pub(crate) trait Talk: Send + Sync + 'static {
    /// Says something and waits for the answer. That a run fails is an answer too; an error is
    /// that there was none to begin with.
    fn say(&self, say: Say, attention: Attention, listener: Listener) -> Later<'_, Said>;

    /// What was said in a conversation and has no answer yet, the oldest first.
    fn unanswered<'a>(&'a self, conversation: &'a str) -> Later<'a, Vec<Unanswered>>;

    /// Goes on with an answer, or waits for whoever works on it.
    fn go_on(&self, run: RunId, attention: Attention, listener: Listener) -> Later<'_, Said>;

    /// Sees to it that an answer which is there is on its way to a chat, once.
    fn see_to_answer<'a>(&'a self, said: &'a Said, to: &'a str) -> Later<'a, ()>;

    /// Leaves words for a chat in the outbox; the same key is said once.
    fn tell<'a>(&'a self, key: &'a str, to: &'a str, text: &'a str) -> Later<'a, ()>;

    /// Leaves a question for a chat in the outbox, once.
    fn ask<'a>(&'a self, question: Question, to: &'a str) -> Later<'a, ()>;

    /// Stops an answer that is worked on.
    fn stop<'a>(&'a self, run: &'a RunId, by: &'a str) -> Later<'a, ()>;

    /// What a model would be told, without asking one: `{"agent", "model", "system": [{"text",
    /// "stable"}], "messages": […], "tools": [{"name", "description"}], "notes": [TEXT…]}`.
    fn prompt(&self, say: Say) -> Later<'_, Value>;

    /// Answers a question that is stored; none if it is over. If somebody was first, theirs counts.
    fn decide<'a>(
        &'a self,
        approval: &'a str,
        response: Response,
        by: &'a str,
    ) -> Later<'a, Option<Decided>>;

    /// Skills that an agent may use: ids and descriptions.
    fn skills<'a>(&'a self, agent: Option<&'a str>) -> Later<'a, Vec<(String, String)>>;

    /// Why this agent does not exist, or nothing.
    fn check_agent<'a>(&'a self, agent: &'a str) -> Later<'a, ()>;

    /// Why nothing speaks for an agent, or for the usual one, or nothing.
    fn check_model<'a>(&'a self, agent: Option<&'a str>) -> Later<'a, ()>;

    /// Conversations, the latest first; those of one channel if one is named.
    fn conversations<'a>(
        &'a self,
        channel: Option<&'a str>,
        limit: Option<u32>,
    ) -> Later<'a, Vec<Conversation>>;

    /// A conversation by its id or by a beginning of it. One that fits several is an error that
    /// names them.
    fn conversation<'a>(&'a self, id: &'a str) -> Later<'a, Option<Conversation>>;

    /// Its messages.
    fn messages<'a>(&'a self, id: &'a str) -> Later<'a, Vec<Line>>;

    /// Messages in which words were found, the latest first.
    fn search<'a>(&'a self, words: &'a str, limit: u32) -> Later<'a, Vec<Line>>;

    /// Deletes a conversation.
    fn delete<'a>(&'a self, id: &'a str) -> Later<'a, bool>;

    /// What was used today.
    fn spending(&self) -> Later<'_, Spending>;

    /// Lets a paused agent go on; false if it was not paused.
    fn resume_agent<'a>(&'a self, agent: &'a str) -> Later<'a, bool>;
}
