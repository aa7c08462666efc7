//! The interface of agents to the engine: setups, tools, calls, budgets and conversations.
//!
//! The agent itself is a value (`deft-agent`); `drive/agent_step.rs` drives it inside a run. Not here: wire
//! formats of models, and storage except by the journal of the run.

mod calls;
mod chosen;
mod dispatch;
mod prepare;
mod requests;
mod say;
mod show;
mod tools;
mod unanswered;
mod undo;

use deft_library::CHAT_SKILL;
use deft_model::{Skill, Tier};
use serde_json::Value;

pub use say::{ChatAnswer, NewChatMessage};
pub use unanswered::{AnswerState, UnansweredMessage};
pub use undo::UndoneExchange;

pub(crate) use calls::calls;
pub(crate) use requests::{Job, RequestAgents};
pub(crate) use tools::{origin, show_agent_tools};

/// Returns how a skill runs. A chat has steps, but runs as an agent.
pub fn tier(skill: &Skill) -> Tier {
    match skill.id.as_str() {
        CHAT_SKILL => Tier::Agent,
        _ => skill.tier(),
    }
}

/// Returns the value of an agent step: its text, or the JSON in it if the step has a schema.
pub(crate) fn answer_value(text: String, wants_json: bool) -> Value {
    if !wants_json {
        return Value::String(text);
    }
    let parsed = serde_json::from_str(find_fenced(&text).unwrap_or(&text));
    parsed.unwrap_or(Value::String(text))
}

/// Returns the content of the only code fence in a text; models like to write a sentence before it.
fn find_fenced(text: &str) -> Option<&str> {
    let mut parts = text.split("```");
    let (_, inside, _) = (parts.next()?, parts.next()?, parts.next()?);
    let only = parts.next().is_none();
    let (_, body) = inside.split_once('\n').filter(|_| only)?;
    Some(body)
}
