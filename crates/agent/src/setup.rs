//! What an agent is given when it begins. All of it is recorded, so that what the model was told
//! can be read afterwards and a replay needs nobody.

use std::sync::Arc;

use deft_model::{Authority, Message, Object, PromptPart, ToolSpec};
use serde::{Deserialize, Serialize};

/// Everything an agent works with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Its name.
    pub agent: String,
    /// The model it asks, by the name in the configuration.
    pub model: String,
    /// How the model says what it wants done.
    pub mode: Mode,
    /// The system prompt, stable parts first.
    pub system: Arc<[PromptPart]>,
    /// The conversation that it goes on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationRef>,
    /// What was said in it before. It is in the store once and not in every journal: whoever
    /// replays puts it back.
    #[serde(skip)]
    pub history: Arc<[Message]>,
    /// What is asked of it now.
    pub task: String,
    /// What it may call, and nothing else (S0.53).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Offer>,
    /// What it may call too, once it has looked it up. The model is told the names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shelf: Vec<ShelfTool>,
    /// Skills that its commands may name; none means all that the host shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Tools (by their names in the router) that must have succeeded before it may end; it is
    /// reminded once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_call: Vec<String>,
    /// Its limits.
    pub limits: Limits,
    /// What it may do, and so what anything may do that it stores, queues, runs or dispatches. A
    /// journal that does not say allows nothing.
    #[serde(default = "Authority::none")]
    pub authority: Authority,
}

/// How a model says what it wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By tool calls.
    Tools,
    /// By `cmd` blocks in its text (S2.36).
    Cmd,
}

/// A tool that is offered to the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// As the model is told of it.
    pub spec: ToolSpec,
    /// Its name in the router.
    pub tool: String,
    /// True when a person has to agree to each call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
}

/// A tool that an agent may use and is not offered yet, because hardly any message needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelfTool {
    /// What the model calls it.
    pub name: String,
    /// Its name in the router.
    pub tool: String,
    /// True when a person has to agree to each call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
}

/// A stretch of a stored conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRef {
    /// Its id.
    pub id: String,
    /// The first message of it that the model is told.
    pub from: u64,
    /// The last message of it that came before.
    pub upto: u64,
}

/// How far an agent may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// The most times the model is asked (S0.5).
    pub max_steps: u32,
    /// How deep agents may dispatch agents.
    pub max_depth: u32,
    /// How many agents one turn may dispatch.
    pub fan_out: u32,
    /// How often the same call with the same result may be made before the loop is broken.
    pub repeats: u32,
    /// How many characters of a result the model is shown.
    pub max_shown: usize,
    /// How many calls its model and those of all agents below it may make.
    #[serde(default = "max_calls")]
    pub max_calls: u32,
    /// How many tokens a question may take; what is old is shortened to keep to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_steps: 10,
            max_depth: 2,
            fan_out: 4,
            repeats: 3,
            max_shown: 20_000,
            max_calls: max_calls(),
            context: None,
        }
    }
}

/// How many calls an agent may make unless it is told otherwise.
const fn max_calls() -> u32 {
    100
}

/// An agent that another one sends out (S2.59).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// What it is called.
    pub agent_id: String,
    /// What it is to do.
    pub mission: String,
    /// The skills and tools it may use.
    #[serde(default)]
    pub skills: Vec<String>,
    /// What it should know.
    #[serde(default)]
    pub context: String,
    /// Everything else that was passed.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub extra: Object,
}
