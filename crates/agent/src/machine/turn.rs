//! The decision after a reply, or after a missing one: the next request, a reminder, the end.
//!
//! Not here: the calls of a reply (`calls.rs`).

use deft_command::extract;
use deft_model::{Failure, FailureClass, ModelReply, StopReason};

use super::state::{Agent, Turn, TurnState};
use super::{Machine, ordinal, words};
use crate::address::Address;
use crate::event::{AgentEnd, Event, EventKind};
use crate::request::Facts;
use crate::setup::Mode;

impl Machine {
    /// Returns what follows from the state of an agent and of the agents below it.
    pub(super) fn decide_agent(&self, agent: &Agent, facts: &dyn Facts) -> Option<Event> {
        if agent.finished.is_some() {
            return None;
        }
        let what = match agent.turns.last() {
            None => ask(agent),
            Some(turn) => match &turn.state {
                TurnState::Asked => return None,
                TurnState::NoReply(failure) => silent(failure),
                TurnState::Replied(reply) if reply.stop == StopReason::Refused => {
                    refusal_event(reply)
                }
                TurnState::Replied(_) if turn.reminder.is_some() => ask(agent),
                TurnState::Replied(reply) if turn.calls.is_empty() => self.answer(agent, reply),
                TurnState::Replied(reply) => {
                    return self.decide_calls(agent, turn, reply, facts);
                }
            },
        };
        Some(agent_event(agent, what))
    }

    /// Returns what follows a reply without calls: it is the answer, unless a required call, or any text, is
    /// missing and can be asked for.
    fn answer(&self, agent: &Agent, reply: &ModelReply) -> EventKind {
        let turn = ordinal(agent.turns.len());
        let missing = self.missing_calls(agent);
        if agent.may_ask() && !agent.reminded_of_calls && !missing.is_empty() {
            let text = words::must_call(&agent.setup, &missing);
            return EventKind::Reminded { turn, text };
        }
        if agent.may_ask() && wrote_commands(agent) {
            let text = words::not_run(&agent.setup);
            return EventKind::Reminded { turn, text };
        }
        let text = text_for_person(agent, reply);
        if !text.is_empty() {
            return EventKind::Finished(AgentEnd { text, error: None });
        }
        if agent.may_ask() && !agent.reminded_to_speak {
            let text = words::EMPTY_REPLY_NOTE.to_owned();
            return EventKind::Reminded { turn, text };
        }
        failure_event(String::new(), words::no_answer(reply))
    }

    /// Returns the tools that must be called and were not, by the agent or by those below it.
    pub(super) fn missing_calls<'a>(&self, agent: &'a Agent) -> Vec<&'a str> {
        let must = agent.setup.must_call.iter();
        let missing = must.filter(|tool| !self.has_called(agent, tool));
        missing.map(String::as_str).collect()
    }

    fn has_called(&self, agent: &Agent, tool: &str) -> bool {
        let below = |other: &&Agent| is_below(&other.address, &agent.address);
        let mut family = self.agents.iter().filter(below);
        family.any(|one| one.called_names().any(|called| called == tool))
    }
}

/// Whether an agent in tool mode wrote commands and was not told yet that they are not run. It would
/// otherwise claim that they were done.
pub(super) fn wrote_commands(agent: &Agent) -> bool {
    let replies = || agent.turns.iter().filter_map(Turn::reply);
    let written = |reply: &ModelReply| !extract(&reply.text).written_commands().is_empty();
    agent.setup.mode == Mode::Tools && !agent.told_of_commands && replies().any(written)
}

/// Whether an agent is `above`, or was dispatched by it or by an agent below it.
fn is_below(address: &Address, above: &Address) -> bool {
    address == above
        || address
            .parent()
            .is_some_and(|(parent, ..)| is_below(&parent, above))
}

/// Asks the model, or ends the agent if it has used its steps.
pub(super) fn ask(agent: &Agent) -> EventKind {
    if !agent.may_ask() {
        return out_of_steps(agent);
    }
    let turn = ordinal(agent.turns.len() + 1);
    EventKind::Asked { turn }
}

/// Ends an agent that may not ask its model again, because no model would read the results of calls.
pub(super) fn out_of_steps(agent: &Agent) -> EventKind {
    let reply = agent.turns.last().and_then(Turn::reply);
    let text = reply
        .map(|reply| text_for_person(agent, reply))
        .unwrap_or_default();
    let rejected = agent.turns.iter().rev().find_map(Turn::rejection);
    failure_event(text, words::out_of_steps(agent.turns.len(), rejected))
}

pub(super) fn failure_event(text: String, failure: Failure) -> EventKind {
    let error = Some(failure);
    EventKind::Finished(AgentEnd { text, error })
}

pub(super) fn agent_event(agent: &Agent, what: EventKind) -> Event {
    Event {
        agent: agent.address.clone(),
        what,
    }
}

/// Ends an agent without a reply. A model request has no effects outside, so nothing is in doubt.
fn silent(failure: &Failure) -> EventKind {
    let mut failure = failure.clone();
    failure.in_doubt = false;
    failure_event(String::new(), failure)
}

fn refusal_event(reply: &ModelReply) -> EventKind {
    let text = reply.text.trim();
    let message = match text {
        "" => "the model refused to answer".to_owned(),
        text => format!("the model refused to answer: {}", words::clip(text)),
    };
    failure_event(text.to_owned(), Failure::new(FailureClass::Other, message))
}

/// Returns the text of a reply for the person.
pub(super) fn text_for_person(agent: &Agent, reply: &ModelReply) -> String {
    let text = match agent.setup.mode {
        Mode::Tools => reply.text.trim().to_owned(),
        Mode::Cmd => extract(&reply.text).text.trim().to_owned(),
    };
    match reply.stop {
        StopReason::Length if !text.is_empty() => format!("{text}\n\n{}", words::CUT_OFF),
        StopReason::Done
        | StopReason::Calls
        | StopReason::Length
        | StopReason::Refused
        | StopReason::Other(_) => text,
    }
}
