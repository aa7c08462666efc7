//! The state machine of an agent: events go in, requests come out.
//!
//! A machine performs nothing, reads no clock and has no store. Its driver calls [`Machine::advance`] for the
//! events that follow from its state, stores them, performs the [`Request`]s, and passes back their results
//! as events (`results.rs`). The agents that an agent dispatches are in the same machine, each under its
//! [`Address`].
//!
//! Not here: what follows from a reply (`turn.rs`) or from its calls (`calls.rs`), and how events change the
//! state (`apply.rs`).

mod apply;
mod breaker;
mod calls;
mod commands;
mod looked_up;
mod reject;
mod results;
mod shorten;
mod shown;
mod state;
mod transcript;
mod turn;
mod words;

pub use looked_up::{CATALOG_TOOL, MAX_OFFERED};
pub use results::Reply;

use std::collections::HashMap;

use deft_model::{Message, ModelRequest, ToolChoice};

use crate::address::Address;
use crate::event::{AgentEnd, Event, EventKind};
use crate::request::{Facts, Request};
use crate::setup::{Mode, Setup};
use state::{Agent, CallState, Target, TurnState};

/// The recorded events do not fit an agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the journal does not fit an agent: {0}")]
pub struct Divergence(pub(crate) String);

/// The state of an agent and of the agents below it.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// In the order in which they began; the first is the root.
    agents: Vec<Agent>,
    places: HashMap<Address, usize>,
    /// Calls that no longer count for the limit of the run, because a person resumed the run after it was
    /// reached.
    calls_before_resume: usize,
    /// Requests that have begun and were not taken yet.
    fresh: Vec<CallRef>,
}

/// A request to the model, or a call of the last turn of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CallRef {
    agent: usize,
    call: Option<usize>,
}

/// Two machines are equal if they behave the same from here on; which requests were taken does not matter.
impl PartialEq for Machine {
    fn eq(&self, other: &Self) -> bool {
        self.agents == other.agents && self.calls_before_resume == other.calls_before_resume
    }
}

impl Machine {
    /// Creates a machine whose agent has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rebuilds a machine from its events. The caller has restored the history in [`EventKind::Began`].
    pub fn replay<'e>(events: impl IntoIterator<Item = &'e Event>) -> Result<Self, Divergence> {
        let mut machine = Self::new();
        for event in events {
            machine.apply(event)?;
        }
        machine.fresh.clear();
        Ok(machine)
    }

    /// Applies and returns all events that follow from the state. The caller must store them before it
    /// performs anything.
    pub fn advance(&mut self, facts: &dyn Facts) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.decide(facts) {
            // The event was decided from this state, so it fits.
            if self.apply(&event).is_err() {
                break;
            }
            events.push(event);
        }
        events
    }

    fn decide(&self, facts: &dyn Facts) -> Option<Event> {
        self.decide_agent(self.agents.first()?, facts)
    }

    /// Resumes a failed agent where it was, and the agents below whose failures ended it. The event is
    /// applied already and must be stored like those of [`advance`](Self::advance), which comes next. Returns
    /// nothing if the agent has not ended or has succeeded.
    pub fn retry(&mut self) -> Vec<Event> {
        let event = Event {
            agent: Address::root(),
            what: EventKind::Reopened,
        };
        let applied = self.apply(&event).is_ok();
        applied.then_some(event).into_iter().collect()
    }

    /// Returns the requests that are new since the last call.
    pub fn take_requests(&mut self) -> Vec<Request> {
        let fresh = std::mem::take(&mut self.fresh);
        fresh
            .into_iter()
            .filter_map(|at| self.request(at))
            .collect()
    }

    /// Returns every request that has begun and not ended, in the order of the calls.
    pub fn requests_in_flight(&self) -> Vec<Request> {
        let mut requests = Vec::new();
        if !self.agents.is_empty() {
            self.collect(0, &mut requests);
        }
        requests
    }

    fn collect(&self, agent: usize, requests: &mut Vec<Request>) {
        let one = &self.agents[agent];
        let Some(turn) = one.turns.last().filter(|_| one.finished.is_none()) else {
            return;
        };
        requests.extend(self.request(CallRef { agent, call: None }));
        for (index, call) in turn.calls.iter().enumerate() {
            let below = child(one, one.turns.len(), index);
            match self.places.get(&below) {
                Some(below) if call.state == CallState::Running => self.collect(*below, requests),
                _ => {
                    let call = Some(index);
                    requests.extend(self.request(CallRef { agent, call }));
                }
            }
        }
    }

    fn request(&self, at: CallRef) -> Option<Request> {
        let agent = self.agents.get(at.agent)?;
        let turn = agent.turns.last().filter(|_| agent.finished.is_none())?;
        let number = ordinal(agent.turns.len());
        let address = agent.address.clone();
        let Some(index) = at.call else {
            return (turn.state == TurnState::Asked).then(|| Request::CallModel {
                agent: address,
                turn: number,
                model: agent.setup.model.clone(),
                request: Box::new(request(agent)),
            });
        };
        let call = turn.calls.get(index)?;
        let (turn, index) = (number, ordinal(index));
        match (&call.state, call.target.clone()?) {
            (
                CallState::Calling,
                Target::Tool {
                    tool,
                    args,
                    effects,
                    covers,
                    ..
                },
            ) => Some(Request::CallTool {
                agent: address,
                turn,
                call: index,
                tool,
                args,
                effects,
                covers,
            }),
            (CallState::Asking { message }, Target::Tool { tool, args, .. }) => {
                Some(Request::Ask {
                    agent: address,
                    turn,
                    call: index,
                    tool,
                    args,
                    message: message.clone(),
                })
            }
            (CallState::Preparing, Target::Dispatch(dispatch)) => Some(Request::Prepare {
                agent: address.child(turn, index),
                dispatch,
            }),
            _ => None,
        }
    }

    /// Returns how many calls of all agents count for the limit of the run.
    pub fn calls_counted(&self) -> usize {
        self.calls_made().saturating_sub(self.calls_before_resume)
    }

    fn calls_made(&self) -> usize {
        self.agents.iter().map(Agent::calls_made).sum()
    }

    /// Returns how the agent of the step ended, if it has.
    pub fn end(&self) -> Option<&AgentEnd> {
        self.agents.first()?.finished.as_ref()
    }

    /// Returns the tools that all agents called successfully, and the skills whose commands those calls were.
    pub fn called_tools(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for name in self.agents.iter().flat_map(Agent::called_names) {
            if !all.iter().any(|known| known == name) {
                all.push(name.to_owned());
            }
        }
        all
    }

    /// Returns the messages since the agent began: its task, replies, results and reminders, without the
    /// history before it. Empty for an unknown agent.
    pub fn messages(&self, agent: &Address) -> Vec<Message> {
        self.agent(agent)
            .map(transcript::messages)
            .unwrap_or_default()
    }

    /// Returns the part of [`messages`](Self::messages) that stays the same even if the agent is resumed
    /// after a failure or a stop. A turn that may be asked again, or whose calls may be made again, is not
    /// included.
    pub fn final_messages(&self, agent: &Address) -> Vec<Message> {
        self.agent(agent)
            .map(transcript::list_final_messages)
            .unwrap_or_default()
    }

    /// Returns the successful calls of the turn that [`final_messages`](Self::final_messages) leaves out, as the model
    /// spells them.
    pub fn done_since(&self, agent: &Address) -> Vec<String> {
        let agent = self.agent(agent);
        agent.map(transcript::done_since).unwrap_or_default()
    }

    /// Returns the parameters that an agent began with.
    pub fn setup(&self, agent: &Address) -> Option<&Setup> {
        self.agent(agent).map(|agent| &*agent.setup)
    }

    /// Whether the agent of the step has begun.
    pub fn has_begun(&self) -> bool {
        !self.agents.is_empty()
    }

    fn agent(&self, address: &Address) -> Option<&Agent> {
        self.agents.get(*self.places.get(address)?)
    }
}

/// Builds the request to the model for the current turn.
fn request(agent: &Agent) -> ModelRequest {
    let before = agent.turns.iter().rev().nth(1);
    let reminder = before.and_then(|turn| turn.reminder.as_ref());
    let required = reminder.is_some_and(|reminder| reminder.required);
    let can_call = agent.setup.mode == Mode::Tools && !agent.specs.is_empty();
    let mut messages = agent.setup.history.to_vec();
    let before = messages.len();
    messages.extend(transcript::messages(agent));
    let mut request = ModelRequest {
        system: agent.setup.system.clone(),
        messages,
        tools: match agent.setup.mode {
            Mode::Tools => agent.specs.clone(),
            Mode::Cmd => [].into(),
        },
        choice: if required && can_call {
            ToolChoice::Required
        } else {
            ToolChoice::Auto
        },
        ..ModelRequest::default()
    };
    if let Some(most) = agent.setup.limits.context {
        shorten::shorten(&mut request, before, most);
    }
    request
}

/// Returns the address of the agent that a call dispatches. Turns count from 1.
fn child(agent: &Agent, turn: usize, call: usize) -> Address {
    agent.address.child(ordinal(turn), ordinal(call))
}

/// Converts the number of a turn or call to the recorded type. A reply with more calls than fit does not fit
/// into memory.
fn ordinal(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
