//! The rim of agents: what they are told and offered, what their calls come down to, what they
//! may spend, and conversations.
//!
//! The agent itself is a value (`deft-agent`); `drive/think.rs` drives it inside a run. Not here:
//! wires of models, storing anything but by the journal of the run.

mod budget;
mod calls;
mod came;
mod chat;
mod context;
mod facts;
mod history;
mod memory;
mod need;
mod offers;
mod options;
mod prepare;
mod reach;
mod say;
mod sent_out;
mod show;
mod think;
mod tools;
mod unanswered;
mod voice;

use deft_library::CHAT_SKILL;
use deft_workflow::{AgentStep, Path};

pub use budget::AgentPause;
pub use memory::TOOLS as MEMORY_TOOLS;
pub use options::{AgentOptions, Budgets, DayBudget};
pub use say::{Said, Say};
pub use think::Hear;
pub use tools::TOOLS as AGENT_TOOLS;
pub use unanswered::{Stands, Unanswered};

pub(crate) use budget::{Exhaustion, Payer};
pub(crate) use calls::calls;
pub(crate) use came::{Came, Heard, Span};
pub(crate) use facts::AgentFacts;
pub(crate) use history::{agents_of, begun, said, text_of};
pub(crate) use memory::show_memory_tools;
pub(crate) use offers::needs_approval;
pub(crate) use prepare::{SCHEDULING, failed};
pub(crate) use say::answer_to;
pub(crate) use think::Job;
pub(crate) use tools::{SKILL_RUN, USE_SKILL, show_agent_tools};

use deft_model::{Authority, Skill, Tier};
use deft_store::RunRow;
use serde_json::Value;

/// What an agent is begun with.
pub(crate) struct Brief {
    pub(crate) run: RunRow,
    pub(crate) step: AgentStep,
    pub(crate) path: Path,
    pub(crate) instructions: String,
    /// The rights that the step has, where they are not a person's.
    pub(crate) authority: Option<Authority>,
}

/// How a skill runs. A chat is steps in form only.
pub(crate) fn tier(skill: &Skill) -> Tier {
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
