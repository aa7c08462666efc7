//! Events of agents: model requests, tool calls, and dispatched agents.

use std::collections::HashMap;

use deft_agent::{Address, Event, EventKind};
use deft_model::{Failure, Object, span_place};
use deft_workflow::{Path, mask, mask_value};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::activity::{ModelTurn, Work};

/// The agents of a run.
#[derive(Debug, Default)]
pub(super) struct AgentFold {
    agents: HashMap<(Path, Address), AgentFacts>,
    turns: HashMap<(Path, Address, u32), Timestamp>,
    calls: HashMap<(Path, Address, u32, u32), OpenCall>,
}

/// An agent, as described when it began.
#[derive(Clone, Debug, Default)]
pub(super) struct AgentFacts {
    pub(super) name: String,
    pub(super) conversation: Option<String>,
    model: String,
}

/// A call of an agent in progress.
#[derive(Debug)]
struct OpenCall {
    work: Work,
    start: Timestamp,
}

/// A completed activity of an agent.
pub(super) struct EndedWork {
    /// Place of its span.
    pub(super) place: String,
    /// Place of the parent span; `None` for the agent of the step.
    pub(super) parent: Option<String>,
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) error: Option<Failure>,
    pub(super) work: Work,
}

impl AgentFold {
    /// Removes all agents of a step that ended, and returns the facts about the step's own agent.
    pub(super) fn take_root(&mut self, path: &Path) -> AgentFacts {
        let root = self.agents.remove(&(path.clone(), Address::root()));
        self.agents.retain(|(other, _), _| other != path);
        self.turns.retain(|(other, _, _), _| other != path);
        self.calls.retain(|(other, _, _, _), _| other != path);
        root.unwrap_or_default()
    }

    /// Applies an event and returns the activity that ends with it.
    pub(super) fn apply(
        &mut self,
        at: Timestamp,
        path: &Path,
        event: &Event,
        content: bool,
    ) -> Option<EndedWork> {
        let agent = &event.agent;
        match &event.what {
            EventKind::Began(setup) => {
                let facts = AgentFacts {
                    name: setup.agent.clone(),
                    conversation: setup.conversation.as_ref().map(|it| it.id.clone()),
                    model: setup.model.clone(),
                };
                self.agents.insert((path.clone(), agent.clone()), facts);
            }
            EventKind::Asked { turn } => {
                let place = (path.clone(), agent.clone(), *turn);
                self.turns.entry(place).or_insert(at);
            }
            EventKind::Replied {
                turn,
                reply,
                model,
                cost_usd,
                ms,
                ..
            } => {
                let work = ModelTurn {
                    model: model.clone(),
                    usage: Some(reply.usage),
                    cost: *cost_usd,
                    stop: Some(reply.stop.clone()),
                    text: content.then(|| mask(&reply.text).unwrap_or_else(|| reply.text.clone())),
                };
                return Some(self.end_turn((at, *ms), path, agent, *turn, (work, None)));
            }
            EventKind::Silent { turn, failure } => {
                let facts = self.agents.get(&(path.clone(), agent.clone()));
                let work = ModelTurn {
                    model: facts.map(|facts| facts.model.clone()).unwrap_or_default(),
                    ..ModelTurn::default()
                };
                let error = Some(failure.clone());
                return Some(self.end_turn((at, 0), path, agent, *turn, (work, error)));
            }
            EventKind::Called {
                turn,
                call,
                tool,
                args,
                ..
            } => {
                let work = Work::Tool {
                    tool: tool.clone(),
                    arguments: content.then(|| masked_value(Value::Object(Object::clone(args)))),
                    result: None,
                    cached: false,
                };
                self.open(at, path, agent, (*turn, *call), work);
            }
            EventKind::Dispatched {
                turn,
                call,
                dispatch,
            } => {
                let work = Work::Agent {
                    name: dispatch.agent_id.clone(),
                    conversation: None,
                };
                self.open(at, path, agent, (*turn, *call), work);
            }
            EventKind::Returned {
                turn,
                call,
                value,
                error,
                ..
            } => {
                let value = value.as_ref().filter(|_| content);
                let result = value.map(|value| masked_value(value.clone()));
                return self.close(at, path, agent, (*turn, *call), (result, error.clone()));
            }
            EventKind::Unable { .. }
            | EventKind::Told { .. }
            | EventKind::Question { .. }
            | EventKind::Answered { .. }
            | EventKind::Offered { .. }
            | EventKind::Reminded { .. }
            | EventKind::Rejected { .. }
            | EventKind::Finished(_)
            | EventKind::Reopened => {}
        }
        None
    }

    fn end_turn(
        &mut self,
        (at, ms): (Timestamp, u64),
        path: &Path,
        agent: &Address,
        turn: u32,
        (work, error): (ModelTurn, Option<Failure>),
    ) -> EndedWork {
        let asked = self.turns.remove(&(path.clone(), agent.clone(), turn));
        let took = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
        let start = asked.unwrap_or_else(|| at.saturating_sub(took).unwrap_or(at));
        EndedWork {
            place: span_place::turn(path.as_str(), &agent.to_string(), turn),
            parent: place_of(path, agent),
            start,
            end: at,
            error,
            work: Work::Model(work),
        }
    }

    fn open(&mut self, at: Timestamp, path: &Path, agent: &Address, call: (u32, u32), work: Work) {
        let place = (path.clone(), agent.clone(), call.0, call.1);
        // A call repeated after a crash keeps the time of its first attempt.
        let open = OpenCall { work, start: at };
        self.calls.entry(place).or_insert(open);
    }

    fn close(
        &mut self,
        at: Timestamp,
        path: &Path,
        agent: &Address,
        (turn, call): (u32, u32),
        (value, error): (Option<Value>, Option<Failure>),
    ) -> Option<EndedWork> {
        let place = (path.clone(), agent.clone(), turn, call);
        let OpenCall { mut work, start } = self.calls.remove(&place)?;
        if let Work::Tool { result, .. } = &mut work {
            *result = value;
        }
        Some(EndedWork {
            place: span_place::agent_call(path.as_str(), &agent.to_string(), turn, call),
            parent: place_of(path, agent),
            start,
            end: at,
            error,
            work,
        })
    }
}

/// Returns the place of a dispatched agent's span; `None` for the agent of the step.
fn place_of(path: &Path, agent: &Address) -> Option<String> {
    let (above, turn, call) = agent.parent()?;
    let above = above.to_string();
    Some(span_place::agent_call(path.as_str(), &above, turn, call))
}

fn masked_value(mut value: Value) -> Value {
    mask_value(&mut value);
    value
}
