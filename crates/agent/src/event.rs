//! The recorded events of an agent. They suffice to rebuild a machine without asking a model, calling a tool
//! or evaluating anything again.

use deft_model::{Effects, Failure, ModelReply, Object, Usd};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Address, Coverage, Dispatch, Offer, Setup};

/// A recorded change of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The address of the agent.
    #[serde(default, skip_serializing_if = "Address::is_root")]
    pub agent: Address,
    /// What happened.
    pub what: EventKind,
}

/// What happened to an agent. Turns count from 1, calls of a turn from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The agent began.
    Began(Box<Setup>),
    /// An agent to be dispatched could not be prepared.
    Unable {
        /// Why it could not be prepared.
        failure: Failure,
    },
    /// The model is about to be asked.
    Asked {
        /// The turn.
        turn: u32,
    },
    /// The model replied.
    Replied {
        /// The turn.
        turn: u32,
        /// The reply.
        reply: ModelReply,
        /// The model that replied.
        model: String,
        /// The commands in the reply, in command mode. They are extracted only here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        commands: Vec<WrittenCommand>,
        /// Cost of the request, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<Usd>,
        /// Duration in milliseconds.
        ms: u64,
    },
    /// The model gave no reply, after all retries and fallbacks.
    Silent {
        /// The turn.
        turn: u32,
        /// Why it gave no reply.
        failure: Failure,
    },
    /// A call that needs nothing outside was answered with a text: a help page, the text of a skill, or the
    /// reason why it is refused. The model is shown the text.
    Told {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// The tool or command that the model asked for.
        name: String,
        /// The kind of the text.
        how: Interpretation,
        /// The text.
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
        /// Arguments of the tool.
        args: Object,
        /// The question.
        message: String,
        /// What repeating the call would do.
        effects: Effects,
        /// The skill, if the call is its command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<String>,
        /// The calls that an approval covers besides the call itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        covers: Option<Coverage>,
    },
    /// The question was answered.
    Answered {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// Whether the answer is yes.
        yes: bool,
        /// Who answered.
        by: String,
        /// Whether a person answered, and not a flag or an earlier approval.
        #[serde(default)]
        person: bool,
    },
    /// A tool is about to be called. Stored before the call.
    Called {
        /// The turn.
        turn: u32,
        /// The call.
        call: u32,
        /// Name of the tool in the router.
        tool: String,
        /// The arguments as they are sent.
        args: Object,
        /// What repeating the call would do.
        effects: Effects,
        /// The skill, if the call is its command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skill: Option<String>,
        /// The further calls that a person approved with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        covers: Option<Coverage>,
    },
    /// An agent is about to be dispatched.
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
        /// Duration in milliseconds.
        ms: u64,
    },
    /// The model looked up or called tools that were on the shelf. They are offered from the next turn on.
    Offered {
        /// The turn in which it did.
        turn: u32,
        /// The tools with their current descriptions.
        tools: Vec<Offer>,
    },
    /// The engine sent the model a reminder in the role of the user.
    Reminded {
        /// The turn that it follows.
        turn: u32,
        /// The text of the reminder.
        text: String,
    },
    /// The answer does not meet the post-condition of the agent's step. The model is told why and continues;
    /// calls that it made are not undone.
    Rejected {
        /// The turn of the answer.
        turn: u32,
        /// Why the answer was rejected.
        failure: Failure,
        /// The text for the model.
        text: String,
    },
    /// The agent ended.
    Finished(AgentEnd),
    /// The agent failed and is resumed where it was: the model is asked again, or the failed call is made
    /// again. Agents below whose failures ended it are resumed too. Everything that has ended is kept.
    Reopened,
}

/// A command as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenCommand {
    /// The command line.
    pub line: String,
    /// Why it cannot be parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The kind of a text that answers a call without anything outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpretation {
    /// The requested text: help, a skill.
    Text,
    /// A refusal: the agent may not use what it called.
    Refused,
    /// A mistake of the model: arguments that cannot be parsed, an unknown flag.
    Mistaken,
    /// Problems of a command, each with its code.
    Problem,
    /// A person declined the call.
    Declined,
    /// The call of a tool that had not been offered yet. Nothing was done; the text describes how to call the
    /// tool.
    Described,
    /// The result of a call that was made before the last answer was rejected and is not made again.
    Made,
}

/// How an agent ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// The final text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}
