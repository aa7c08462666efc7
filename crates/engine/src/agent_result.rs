//! Results of an agent's requests, and the events for them.
use deft_agent::{Address, Event as AgentEvent, EventKind, Machine as Agent, Reply, Setup};
use deft_agents::Exhaustion;
use deft_llm::Answer as ModelAnswer;
use deft_model::{Failure, FailureClass};
use deft_store::Write;
use deft_workflow::Answer;
use serde_json::Value;

use crate::answerer::Answerer;
use crate::question::Question;

/// One turn of one agent.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) agent: Address,
    pub(crate) turn: u32,
}

/// The result of a request of an agent.
pub(crate) enum AgentResult {
    /// The setup of an agent.
    Prepared {
        agent: Address,
        result: Result<Box<Setup>, Failure>,
    },
    /// No setup, because the check before the run found no work; contains the reason.
    Idle(String),
    /// An answer of the model.
    Replied {
        span: Span,
        result: Result<ModelAnswer, Failure>,
        ms: u64,
        writes: Vec<Write>,
        /// The reaction to a spent budget, if one is spent.
        exhausted: Option<Exhaustion>,
    },
    /// The end of a call.
    Returned {
        span: Span,
        call: u32,
        result: Result<Value, Failure>,
        ms: u64,
    },
    /// The answer of a person; `None` if no answer is available yet.
    Answered {
        span: Span,
        call: u32,
        question: Question,
        answer: Option<(Answer, String)>,
    },
}

/// What to record for a result.
pub(crate) enum RecordableResult {
    /// An event, with writes for the same transaction.
    Event(AgentEvent, Vec<Write>),
    /// The agent cannot start.
    Unable(Failure),
    /// Nothing yet: a person has to answer first.
    Unanswered(Question),
}

impl AgentResult {
    /// Converts the result to an event.
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
                        machine.reply_event(&agent, turn, answer.reply, model, cost, ms)
                    }
                    Err(failure) => machine.silent(&agent, turn, failure),
                }
            }
            Self::Returned {
                span: Span { agent, turn },
                call,
                result,
                ms,
            } => machine.return_event(&agent, turn, call, result, ms),
            Self::Answered {
                span: Span { agent, turn },
                call,
                question,
                answer,
            } => match answer {
                Some((answer, by)) => {
                    let reply = Reply {
                        yes: answer == Answer::Yes,
                        person: Answerer::read(&by).is_person(),
                        by,
                    };
                    machine.answer_event(&agent, turn, call, reply)
                }
                None => return RecordableResult::Unanswered(question),
            },
        };
        RecordableResult::Event(event, also)
    }
}
