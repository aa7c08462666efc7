//! The rim of agents: what they are told and offered, what their calls come down to, what they
//! may spend, and conversations.
//!
//! The agent itself is a value (`deft-agent`); `drive/think.rs` drives it inside a run. Not here:
//! wires of models, storing anything but by the journal of the run.

mod calls;
mod chosen;
mod dispatch;
mod prepare;
mod result;
mod say;
mod show;
mod think;
mod tools;
mod unanswered;
mod undo;

use deft_library::CHAT_SKILL;
use deft_model::{Skill, Tier};
use serde_json::Value;

pub use say::{ChatAnswer, Say};
pub use think::Hear;
pub use unanswered::{AnswerState, UnansweredMessage};
pub use undo::UndoneExchange;

pub(crate) use calls::calls;
pub(crate) use result::{AgentResult, RecordableResult, Span};
pub(crate) use think::Job;
pub(crate) use tools::show_agent_tools;

/// How a skill runs. A chat is steps in form only.
pub fn tier(skill: &Skill) -> Tier {
    match skill.id.as_str() {
        CHAT_SKILL => Tier::Agent,
        _ => skill.tier(),
    }
}

/// The value of an agent step: its text, or the JSON in it where a schema is to be met.
pub(crate) fn answer_value(text: String, wants_json: bool) -> Value {
    if !wants_json {
        return Value::String(text);
    }
    let parsed = serde_json::from_str(fenced(&text).unwrap_or(&text));
    parsed.unwrap_or(Value::String(text))
}

/// What stands in the only fence of a text; models like to say a sentence before it.
fn fenced(text: &str) -> Option<&str> {
    let mut parts = text.split("```");
    let (_, inside, _) = (parts.next()?, parts.next()?, parts.next()?);
    let only = parts.next().is_none();
    let (_, body) = inside.split_once('\n').filter(|_| only)?;
    Some(body)
}
