//! What an agent asks of the world, and what it has to be told about it.

use deft_model::{Effects, Failure, ModelRequest, Object, ToolCall, ToolSpec};
use serde::{Deserialize, Serialize};

use crate::{Address, Dispatch, Offer, Setup, ShelfTool};

/// What the machine of an agent asks the engine to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Ask the model.
    CallModel {
        /// Which agent.
        agent: Address,
        /// The turn.
        turn: u32,
        /// The model, by its name in the configuration.
        model: String,
        /// The question.
        request: Box<ModelRequest>,
    },
    /// Call a tool. Its intent must be stored first unless it has no effects.
    CallTool {
        /// Which agent.
        agent: Address,
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// The tool, by its name in the router.
        tool: String,
        /// Its arguments.
        args: Object,
        /// What repeating it would do.
        effects: Effects,
        /// What a person agreed to with it.
        covers: Option<Coverage>,
    },
    /// Ask a person before a call.
    Ask {
        /// Which agent.
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
    /// Put together what an agent that is sent out begins with: [`EventKind::Began`] or
    /// [`EventKind::Unable`] for that address.
    ///
    /// [`EventKind::Began`]: crate::EventKind::Began
    /// [`EventKind::Unable`]: crate::EventKind::Unable
    Prepare {
        /// The new agent.
        agent: Address,
        /// Its mission.
        dispatch: Dispatch,
    },
}

/// Something that a model wants done.
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
    /// It makes no sense, and the model is told why.
    Mistaken(String),
    /// It is a command with problems; the text says each of them with its code.
    Problem(String),
    /// It is not allowed, and the model is told so.
    Refused(String),
    /// It calls a tool that it was not offered when it was asked, and is told how that is called.
    Described(String),
    /// A call of a tool.
    Tool {
        /// The tool, by its name in the router.
        tool: String,
        /// Arguments, mended and checked.
        args: Object,
        /// What repeating it would do.
        effects: Effects,
        /// The yes of a person that it needs.
        consent: Option<Consent>,
        /// The skill whose command it is.
        skill: Option<String>,
    },
    /// Another agent.
    Dispatch(Dispatch),
    /// What it needs is not there; the agent ends with this.
    Blocked(Failure),
}

/// A person's yes that a call needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consent {
    /// The question, where naming the call is not enough.
    pub question: Option<String>,
    /// What a yes is for beside the call itself.
    pub covers: Option<Coverage>,
}

/// Calls that follow from one that a person agrees to: those of a skill that it runs or stores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Their tools.
    pub tools: Vec<String>,
    /// The revision of the skill that calls them; none for one that is not stored yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Whether a person answered, and not a flag or an earlier yes: only that can be a standing
    /// grant.
    #[serde(default)]
    pub by_person: bool,
}

/// What a machine has to be told about the world before it decides.
pub trait Facts {
    /// Resolves a call or a command. Whether a tool was offered is known already.
    fn resolve(&self, setup: &Setup, wanted: RequestedCall<'_>) -> Resolution;

    /// How a tool of the shelf is called, under the name that the model has for it; `None` when it is
    /// gone.
    fn describe(&self, shelved: &ShelfTool) -> Option<ToolSpec>;

    /// How many calls agents of other steps of the run have made that count for its limit.
    fn calls_elsewhere(&self) -> usize;
}
