//! The result of a request of an agent, and the event for it.
use deft_agent::{Address, Event as AgentEvent, EventKind, Machine as Agent, Reply, Setup};
use deft_agents::Exhaustion;
use deft_llm::Answer as ModelAnswer;
use deft_model::{Failure, FailureClass};
use deft_store::Write;
use deft_workflow::Answer;
use serde_json::Value;

use crate::ask::{self, Question};

/// A turn of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) agent: Address,
    pub(crate) turn: u32,
}

/// The result of a request of an agent.
pub(crate) enum AgentResult {
    /// What an agent begins with.
    Prepared {
        agent: Address,
        result: Result<Box<Setup>, Failure>,
    },
    /// Nothing, as there is nothing to do: the check before the run says why.
    Idle(String),
    /// An answer of its model.
    Replied {
        span: Span,
        result: Result<ModelAnswer, Failure>,
        ms: u64,
        writes: Vec<Write>,
        /// What is to happen, if a budget is spent.
        exhausted: Option<Exhaustion>,
    },
    /// The end of a call.
    Returned {
        span: Span,
        call: u32,
        result: Result<Value, Failure>,
        ms: u64,
    },
    /// The answer of a person, if there is one.
    Answered {
        span: Span,
        call: u32,
        question: Question,
        answer: Option<(Answer, String)>,
    },
}

/// What is to be recorded of it.
pub(crate) enum RecordableResult {
    /// This, together with these.
    Event(AgentEvent, Vec<Write>),
    /// The agent cannot begin.
    Unable(Failure),
    /// No result yet: a person has to answer.
    Unanswered(Question),
}

impl AgentResult {
    /// The event for what came.
    pub(crate) fn event(self, machine: &Agent) -> RecordableResult {
        let mut also = Vec::new();
        let event = match self {
            Self::Prepared { agent, result } => match result {
                Ok(setup) => machine.began(&agent, *setup),
                Err(failure) if agent.is_root() => return RecordableResult::Unable(failure),
                Err(failure) => AgentEvent {
                    agent,
                    what: EventKind::Unable { failure },
                },
            },
            Self::Idle(why) => {
                return RecordableResult::Unable(Failure::new(FailureClass::Other, why));
            }
            Self::Replied {
                span: Span { agent, turn },
                result,
                ms,
                writes,
                ..
            } => {
                also = writes;
                match result {
                    Ok(answer) => {
                        let (model, cost) = (answer.model, answer.cost);
                        machine.replied(&agent, turn, answer.reply, model, cost, ms)
                    }
                    Err(failure) => machine.silent(&agent, turn, failure),
                }
            }
            Self::Returned {
                span: Span { agent, turn },
                call,
                result,
                ms,
            } => machine.returned(&agent, turn, call, result, ms),
            Self::Answered {
                span: Span { agent, turn },
                call,
                question,
                answer,
            } => match answer {
                Some((answer, by)) => {
                    let reply = Reply {
                        yes: answer == Answer::Yes,
                        person: ask::is_person(&by),
                        by,
                    };
                    machine.answered(&agent, turn, call, reply)
                }
                None => return RecordableResult::Unanswered(question),
            },
        };
        RecordableResult::Event(event, also)
    }
}
