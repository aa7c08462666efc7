//! The parameters of an agent. All of them are recorded, so that it can be read later what the model was
//! told, and a replay needs no engine.

use std::sync::Arc;

use deft_model::{Authority, Message, Object, PromptPart, ToolSpec};
use serde::{Deserialize, Serialize};

/// The parameters of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Name of the agent.
    pub agent: String,
    /// Name of its model in the configuration.
    pub model: String,
    /// How the model makes calls.
    pub mode: Mode,
    /// The system prompt, stable parts first.
    pub system: Arc<[PromptPart]>,
    /// The conversation that the agent continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<ConversationRef>,
    /// The earlier messages of the conversation. They are stored once and not in every journal: the caller of
    /// a replay passes them.
    #[serde(skip)]
    pub history: Arc<[Message]>,
    /// The current task.
    pub task: String,
    /// The tools that it is offered. It may call no others (S0.53).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Offer>,
    /// The tools that it may call after it looks them up. The model is told their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shelf: Vec<ShelfTool>,
    /// Skills that its commands may name; `None` allows all that the host shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Names in the router of tools that must have succeeded before the agent may end; it is reminded once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub must_call: Vec<String>,
    /// Its limits.
    pub limits: Limits,
    /// Its rights, and so the rights of everything that it stores, queues, runs or dispatches. If a journal
    /// has none, nothing is allowed.
    #[serde(default = "Authority::none")]
    pub authority: Authority,
}

/// How a model makes calls.
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
    /// The description for the model.
    pub spec: ToolSpec,
    /// Its name in the router.
    pub tool: String,
    /// Whether a person has to approve each call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
}

/// A tool that an agent may use but is not offered yet, because few messages need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShelfTool {
    /// Name of the tool for the model.
    pub name: String,
    /// Its name in the router.
    pub tool: String,
    /// Whether a person has to approve each call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
}

/// A range of a stored conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRef {
    /// Id of the conversation.
    pub id: String,
    /// Number of the first message that the model gets.
    pub from: u64,
    /// Number of the last message before the agent began.
    pub upto: u64,
}

/// The limits of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of requests to the model (S0.5).
    pub max_steps: u32,
    /// Maximum nesting depth of dispatched agents.
    pub max_depth: u32,
    /// Maximum number of agents that one turn may dispatch.
    pub fan_out: u32,
    /// Number of equal calls with equal results after which the loop is broken.
    pub repeats: u32,
    /// Maximum number of characters of a result that the model is shown.
    pub max_shown: usize,
    /// Maximum number of calls by its model and those of all agents below it.
    #[serde(default = "max_calls")]
    pub max_calls: u32,
    /// Maximum number of tokens of a request; older parts are shortened to fit.
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

/// Returns the default of `max_calls`.
const fn max_calls() -> u32 {
    100
}

/// A mission for an agent that another one dispatches (S2.59).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    /// Id or name of the agent.
    pub agent_id: String,
    /// The task.
    pub mission: String,
    /// The skills and tools it may use.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Facts that the agent should know.
    #[serde(default)]
    pub context: String,
    /// All other arguments.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub extra: Object,
}
