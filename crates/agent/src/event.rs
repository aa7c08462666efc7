//! The recorded events of an agent. They are enough to rebuild a machine without asking a
//! model, calling a tool or judging anything again.

use deft_model::{Effects, Failure, ModelReply, Object, Usd};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Address, Coverage, Dispatch, Offer, Setup};

/// Something that happened to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Which agent.
    #[serde(default, skip_serializing_if = "Address::is_root")]
    pub agent: Address,
    /// What happened.
    pub what: EventKind,
}

/// What happened. Turns count from 1, calls of a turn from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// It began.
    Began(Box<Setup>),
    /// A call of another agent could not become one.
    Unable {
        /// Why.
        failure: Failure,
    },
    /// The model is about to be asked.
    Asked {
        /// The turn.
        turn: u32,
    },
    /// The model answered.
    Replied {
        /// The turn.
        turn: u32,
        /// The answer.
        reply: ModelReply,
        /// The model that gave it.
        model: String,
        /// Its commands, where it writes commands: found once, here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<WrittenCommand>,
        /// What it cost, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<Usd>,
        /// How long it took.
        ms: u64,
    },
    /// The model gave no answer, with all retries and fallbacks.
    Silent {
        /// The turn.
        turn: u32,
        /// Why.
        failure: Failure,
    },
    /// The answer to a call that needs nothing outside: a help page, the text of a
    /// skill, or the reason why it is refused. The model is shown the text.
    Told {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// What the model asked for.
        name: String,
        /// How it is meant.
        how: Interpretation,
        /// What it is shown.
        text: String,
    },
    /// A person is asked before a call.
    Question {
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
        /// What repeating the call would do.
        effects: Effects,
        /// The skill whose command it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<String>,
        /// What a yes is for beside the call itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        covers: Option<Coverage>,
    },
    /// The question was answered.
    Answered {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// True for yes.
        yes: bool,
        /// Who gave it.
        by: String,
        /// Whether that is a person, and not a flag or an earlier yes.
        #[serde(default)]
        person: bool,
    },
    /// A tool is about to be called. Stored before it is.
    Called {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// The tool, by its name in the router.
        tool: String,
        /// Its arguments, as they are sent.
        args: Object,
        /// What repeating it would do.
        effects: Effects,
        /// The skill whose command it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<String>,
        /// What a person agreed to with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        covers: Option<Coverage>,
    },
    /// An agent is about to be sent out.
    Dispatched {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// The mission.
        dispatch: Dispatch,
    },
    /// A call ended.
    Returned {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// The value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
        /// The failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// How long it took.
        ms: u64,
    },
    /// Tools come off the shelf: the model looked them up, or called them. It is offered them from
    /// the next question on.
    Offered {
        /// The turn in which it did.
        turn: u32,
        /// The tools, as they are now.
        tools: Vec<Offer>,
    },
    /// The engine says something in the place of the person: a reminder.
    Reminded {
        /// The turn after which it is said.
        turn: u32,
        /// What.
        text: String,
    },
    /// It answered, and the answer is not what its step promises. It is told so and goes on: what it
    /// has called stays called.
    Rejected {
        /// The turn of the answer.
        turn: u32,
        /// What was promised.
        failure: Failure,
        /// What the model is told.
        text: String,
    },
    /// It is over.
    Finished(AgentEnd),
    /// It failed and goes on where it was: the model is asked again, or the call that could not be
    /// made is made. So do the agents below whose failures ended it. What has ended stays ended.
    Reopened,
}

/// A command as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenCommand {
    /// The command.
    pub line: String,
    /// Why it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// How a call that needs nothing outside was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpretation {
    /// It asked for a text: help, a skill.
    Text,
    /// It was refused: outside of what the agent may use.
    Refused,
    /// It made no sense: arguments that cannot be read, a flag that does not exist.
    Mistaken,
    /// It is a command with problems; the text says each of them with its code.
    Problem,
    /// A person said no.
    Declined,
    /// It called a tool that it had not been offered yet. Nothing was done; it is told how the tool
    /// is called.
    Described,
    /// It was made before the last answer was rejected, and is not made again: the text is what it
    /// gave.
    Made,
}

/// How an agent ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// What it says at the end.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}
