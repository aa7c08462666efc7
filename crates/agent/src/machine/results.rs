//! Events for the results of requests. Making one changes nothing; it is stored, then applied.

use deft_command::{CommandResult, extract};
use deft_model::{Effects, Failure, ModelReply, Usd};
use serde_json::Value;

use super::turn::failed;
use super::{Machine, words};
use crate::address::Address;
use crate::event::{Event, EventKind, WrittenCommand};
use crate::request::Request;
use crate::setup::{Mode, Setup};

impl Machine {
    /// An agent begins: the one of the step, or one that is being prepared.
    pub fn began(&self, agent: &Address, setup: Setup) -> Event {
        event(agent, EventKind::Began(Box::new(setup)))
    }

    /// An agent that was to be prepared cannot be.
    pub fn unable(&self, agent: &Address, failure: Failure) -> Event {
        event(agent, EventKind::Unable { failure })
    }

    /// The model answered. Commands in the answer are found here, once.
    pub fn replied(
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

    /// The model gave no answer.
    pub fn silent(&self, agent: &Address, turn: u32, failure: Failure) -> Event {
        event(agent, EventKind::Silent { turn, failure })
    }

    /// The agent is ended from outside: its time is over, or a person stopped it.
    pub fn stopped(&self, failure: Failure) -> Event {
        event(&Address::root(), failed(String::new(), failure))
    }

    /// A call of a tool ended.
    pub fn returned(
        &self,
        agent: &Address,
        turn: u32,
        call: u32,
        result: Result<Value, Failure>,
        ms: u64,
    ) -> Event {
        event(agent, returned(turn, call, result, ms))
    }

    /// A question was answered.
    pub fn answered(&self, agent: &Address, turn: u32, call: u32, reply: Reply) -> Event {
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

    /// What is recorded, after a crash, of a request whose driver died. `None`:
    /// it is performed again. A call that must not be repeated ends in doubt, and its agent with it.
    pub fn cut_off(&self, request: &Request) -> Option<Event> {
        match request {
            Request::CallTool {
                agent,
                turn,
                call,
                tool,
                effects: Effects::Once,
                ..
            } => Some(self.returned(agent, *turn, *call, Err(words::cut_off(tool)), 0)),
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
    /// True for yes.
    pub yes: bool,
    /// Who gave it.
    pub by: String,
    /// Whether that is a person, and not a flag or an earlier yes.
    pub person: bool,
}

fn event(agent: &Address, what: EventKind) -> Event {
    Event {
        agent: agent.clone(),
        what,
    }
}

pub(super) fn returned(turn: u32, call: u32, result: Result<Value, Failure>, ms: u64) -> EventKind {
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

/// The commands of a reply, which is the model's own text and nothing else (X22).
fn commands(reply: &str) -> Vec<WrittenCommand> {
    let written = extract(reply).written().into_iter();
    let written = written.map(|(line, problem)| WrittenCommand {
        line,
        problem: problem.map(|problem| CommandResult::refused(&[problem]).content),
    });
    written.collect()
}
