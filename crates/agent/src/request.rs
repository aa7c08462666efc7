//! The requests of an agent, and the facts that its decisions depend on.

use deft_model::{Effects, Failure, ModelRequest, Object, ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::{Address, Dispatch, Offer, Setup, ShelfTool};

/// A request that the state machine of an agent makes to the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Ask the model.
    CallModel {
        /// The address of the agent.
        agent: Address,
        /// The turn.
        turn: u32,
        /// The model, by its name in the configuration.
        model: String,
        /// The request to the model.
        request: Box<ModelRequest>,
    },
    /// Call a tool. Its intent must be stored first unless it has no effects.
    CallTool {
        /// The address of the agent.
        agent: Address,
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// Name of the tool in the router.
        tool: String,
        /// Its arguments.
        args: Object,
        /// What repeating the call would do.
        effects: Effects,
        /// The further calls that a person approved with it.
        covers: Option<Coverage>,
    },
    /// Ask a person before a call.
    Ask {
        /// The address of the agent.
        agent: Address,
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// The tool.
        tool: String,
        /// Its arguments.
        args: Object,
        /// The question.
        message: String,
    },
    /// Prepare an agent that is dispatched. The result is [`EventKind::Began`] or [`EventKind::Unable`] for
    /// its address.
    ///
    /// [`EventKind::Began`]: crate::EventKind::Began
    /// [`EventKind::Unable`]: crate::EventKind::Unable
    Prepare {
        /// The address of the new agent.
        agent: Address,
        /// Its mission.
        dispatch: Dispatch,
    },
}

/// A call that a model asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestedCall<'a> {
    /// A call of a tool that was offered.
    Tool(&'a Offer, &'a ToolCall),
    /// A line of a `cmd` block.
    Command(&'a str),
}

/// What a requested call resolves to.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution {
    /// A text: a help page, the body of a skill, a list.
    Text(String),
    /// A mistake of the model; the text explains it.
    Mistaken(String),
    /// A command with problems; the text lists each of them with its code.
    Problem(String),
    /// Not allowed; the text says so.
    Refused(String),
    /// A call of a tool that was not offered when the model was asked; the text describes how to call it.
    Described(String),
    /// A call of a tool.
    Tool {
        /// Name of the tool in the router.
        tool: String,
        /// Arguments, repaired and checked.
        args: Object,
        /// What repeating the call would do.
        effects: Effects,
        /// The approval of a person that it needs.
        consent: Option<Consent>,
        /// The skill, if the call is its command.
        skill: Option<String>,
    },
    /// Dispatches another agent.
    Dispatch(Dispatch),
    /// A tool or server that it needs is missing; the agent ends with this failure.
    Blocked(Failure),
}

/// The approval of a person that a call needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consent {
    /// The question, if the name of the call is not enough.
    pub question: Option<String>,
    /// The calls that an approval covers besides the call itself.
    pub covers: Option<Coverage>,
}

/// Calls that follow from an approved call: those of a skill that it runs or stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// The tools of these calls.
    pub tools: Vec<String>,
    /// The revision of the skill that makes them; `None` if it is not stored yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Whether a person answered, and not a flag or an earlier approval: only a person's answer can become a
    /// standing grant.
    #[serde(default)]
    pub by_person: bool,
}

/// Facts outside the machine that its decisions depend on.
pub trait Facts {
    /// Resolves a call or a command. The machine has already checked that a tool was offered.
    fn resolve(&self, setup: &Setup, wanted: RequestedCall<'_>) -> Resolution;

    /// Describes a tool of the shelf, under the name that the model has for it; `None` if it no longer
    /// exists.
    fn describe(&self, shelved: &ShelfTool) -> Option<ToolSpec>;

    /// Returns the number of calls by agents of other steps of the run that count for its limit.
    fn calls_elsewhere(&self) -> usize;
}
