//! Events for the results of requests. Creating one changes nothing; the caller stores and applies it.

use deft_command::{CommandResult, extract};
use deft_model::{Effects, Failure, ModelReply, Usd};
use serde_json::Value;

use super::{Machine, words};
use crate::address::Address;
use crate::event::{Event, EventKind, WrittenCommand};
use crate::request::Request;
use crate::setup::{Mode, Setup};

impl Machine {
    /// Returns the event that begins an agent: the one of the step, or one that was prepared.
    pub fn began(&self, agent: &Address, setup: Setup) -> Event {
        event(agent, EventKind::Began(Box::new(setup)))
    }

    /// Returns the event for an agent that could not be prepared.
    pub fn unable(&self, agent: &Address, failure: Failure) -> Event {
        event(agent, EventKind::Unable { failure })
    }

    /// Returns the event for a reply of the model. Commands in the reply are extracted only here.
    pub fn reply_event(
        &self,
        agent: &Address,
        turn: u32,
        reply: ModelReply,
        model: String,
        cost_usd: Option<Usd>,
        ms: u64,
    ) -> Event {
        let writes = |setup: &Setup| setup.mode == Mode::Cmd;
        let commands = match self.agent(agent) {
            Some(one) if writes(&one.setup) => commands(&reply.text),
            _ => Vec::new(),
        };
        let what = EventKind::Replied {
            turn,
            reply,
            model,
            commands,
            cost_usd,
            ms,
        };
        event(agent, what)
    }

    /// Returns the event for a model that gave no reply.
    pub fn silent(&self, agent: &Address, turn: u32, failure: Failure) -> Event {
        event(agent, EventKind::Silent { turn, failure })
    }

    /// Returns the event for the end of a tool call.
    pub fn return_event(
        &self,
        agent: &Address,
        turn: u32,
        call: u32,
        result: Result<Value, Failure>,
        ms: u64,
    ) -> Event {
        event(agent, return_event(turn, call, result, ms))
    }

    /// Returns the event for the answer to a question.
    pub fn answer_event(&self, agent: &Address, turn: u32, call: u32, reply: Reply) -> Event {
        let Reply { yes, by, person } = reply;
        let what = EventKind::Answered {
            turn,
            call,
            yes,
            by,
            person,
        };
        event(agent, what)
    }

    /// Returns the event for a request whose driver died, or `None` if the request is performed again. A call
    /// that must not be repeated ends in doubt, and its agent with it.
    pub fn cut_off(&self, request: &Request) -> Option<Event> {
        match request {
            Request::CallTool {
                agent,
                turn,
                call,
                tool,
                effects: Effects::Once,
                ..
            } => Some(self.return_event(agent, *turn, *call, Err(words::cut_off(tool)), 0)),
            Request::CallTool { .. }
            | Request::CallModel { .. }
            | Request::Ask { .. }
            | Request::Prepare { .. } => None,
        }
    }
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whether the answer is yes.
    pub yes: bool,
    /// Who answered.
    pub by: String,
    /// Whether a person answered, and not a flag or an earlier approval.
    pub person: bool,
}

fn event(agent: &Address, what: EventKind) -> Event {
    Event {
        agent: agent.clone(),
        what,
    }
}

pub(super) fn return_event(
    turn: u32,
    call: u32,
    result: Result<Value, Failure>,
    ms: u64,
) -> EventKind {
    let (value, error) = match result {
        Ok(value) => (Some(value), None),
        Err(failure) => (None, Some(failure)),
    };
    EventKind::Returned {
        turn,
        call,
        value,
        error,
        ms,
    }
}

/// Extracts the commands of a reply. Only the model's own text can contain commands (X22).
fn commands(reply: &str) -> Vec<WrittenCommand> {
    let written = extract(reply).written_commands().into_iter();
    let written = written.map(|(line, problem)| WrittenCommand {
        line,
        problem: problem.map(|problem| CommandResult::from_problems(&[problem]).content),
    });
    written.collect()
}
