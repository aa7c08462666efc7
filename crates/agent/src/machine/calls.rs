//! The calls of a reply: which one begins next, and how it is resolved.
//!
//! Calls begin in the order in which the model wrote them. Adjacent calls without effects run together, and
//! so do agents. Every other call waits for all calls before it, and all calls after it wait for it.
//!
//! Not here: the detection of loops (`breaker.rs`), how results are shown (`shown.rs`).

use deft_model::{CallArgs, Effects, Failure, ModelReply, StopReason, ToolCall, value_text};
use serde_json::Value;

use super::results::return_event;
use super::state::{Agent, Call, CallState, ModelCall, Target, Turn};
use super::turn::{agent_event, ask, failure_event, out_of_steps, text_for_person};
use super::{Machine, breaker, child, commands, looked_up, ordinal, words};
use crate::event::{Event, EventKind, Interpretation};
use crate::request::{Facts, RequestedCall, Resolution};
use crate::setup::Dispatch;

/// The calls of the last turn of an agent.
struct Calls<'a> {
    machine: &'a Machine,
    agent: &'a Agent,
    turn: &'a Turn,
    reply: &'a ModelReply,
}

impl Machine {
    pub(super) fn decide_calls(
        &self,
        agent: &Agent,
        turn: &Turn,
        reply: &ModelReply,
        facts: &dyn Facts,
    ) -> Option<Event> {
        if let Some(event) = self.decide_below(agent, turn, facts) {
            return Some(event);
        }
        let calls = Calls {
            machine: self,
            agent,
            turn,
            reply,
        };
        calls.decide(facts).map(|what| agent_event(agent, what))
    }

    /// Returns what follows for dispatched agents, or the end of a call whose agent has ended.
    fn decide_below(&self, agent: &Agent, turn: &Turn, facts: &dyn Facts) -> Option<Event> {
        let number = agent.turns.len();
        turn.calls.iter().enumerate().find_map(|(index, call)| {
            let end = |result, ms| {
                let what = return_event(ordinal(number), ordinal(index), result, ms);
                Some(agent_event(agent, what))
            };
            match &call.state {
                CallState::Unable(failure) => end(Err(failure.clone()), 0),
                CallState::Running => {
                    let below = self.agent(&child(agent, number, index))?;
                    let Some(finished) = &below.finished else {
                        return self.decide_agent(below, facts);
                    };
                    match &finished.error {
                        Some(failure) => end(Err(failure.clone()), below.ms),
                        None => end(Ok(Value::String(finished.text.clone())), below.ms),
                    }
                }
                CallState::Pending
                | CallState::Asking { .. }
                | CallState::Answered { .. }
                | CallState::Retry
                | CallState::Calling
                | CallState::Preparing
                | CallState::Ended(_) => None,
            }
        })
    }
}

impl Calls<'_> {
    fn decide(&self, facts: &dyn Facts) -> Option<EventKind> {
        let calls = &self.turn.calls;
        let busy = calls.iter().any(Call::is_busy);
        if let Some(failure) = calls.iter().find_map(Call::fatal) {
            return (!busy).then(|| self.fail(failure.clone()));
        }
        if !busy && let Some(failure) = breaker::detect_loop(self.agent) {
            return Some(self.fail(failure));
        }
        let Some(next) = calls
            .iter()
            .position(|call| !call.has_ended() && !call.is_busy())
        else {
            let looked_up = || looked_up::offer_found_tools(self.agent, self.turn, facts);
            return (!busy).then(|| looked_up().unwrap_or_else(|| ask(self.agent)));
        };
        let untouched = self.turn.is_untouched();
        if untouched && !self.agent.may_ask() {
            return Some(out_of_steps(self.agent));
        }
        if untouched && let Some(failure) = self.too_many(facts) {
            return Some(self.fail(failure));
        }
        let running: Vec<&Call> = calls.iter().filter(|call| call.is_busy()).collect();
        if !running.iter().all(|call| is_free(call)) {
            return None;
        }
        self.begin(next, &running, facts)
    }

    /// Returns the failure for a reply whose calls would exceed the limit of the run; none of them is made.
    /// All agents of the run share the limit, including those that work at the same time, so the first reply
    /// that exceeds it fails.
    fn too_many(&self, facts: &dyn Facts) -> Option<Failure> {
        let most = self.agent.setup.limits.max_calls as usize;
        let asked = self.turn.calls.len();
        let made = self.machine.calls_counted() + facts.calls_elsewhere();
        (made + asked > most).then(|| words::too_many_calls(made, asked, most))
    }

    /// Begins a call beside the running ones, if it may.
    fn begin(&self, index: usize, running: &[&Call], facts: &dyn Facts) -> Option<EventKind> {
        let call = &self.turn.calls[index];
        match (&call.state, &call.target) {
            (CallState::Answered { yes: false, by }, Some(Target::Tool { tool, skill, .. })) => {
                let text = words::decline_text(skill.as_ref().unwrap_or(tool), by);
                Some(self.interpretation_event(index, Interpretation::Declined, text))
            }
            (_, Some(target)) => self.begin_call(index, target.clone(), running),
            (_, None) if let Some(opened) = self.open(index, facts) => Some(opened),
            (_, None) => match self.resolve(index, facts) {
                Resolution::Text(text) => {
                    Some(self.interpretation_event(index, Interpretation::Text, text))
                }
                Resolution::Mistaken(text) => {
                    Some(self.interpretation_event(index, Interpretation::Mistaken, text))
                }
                Resolution::Problem(text) => {
                    Some(self.interpretation_event(index, Interpretation::Problem, text))
                }
                Resolution::Refused(text) => {
                    Some(self.interpretation_event(index, Interpretation::Refused, text))
                }
                Resolution::Described(text) => {
                    Some(self.interpretation_event(index, Interpretation::Described, text))
                }
                Resolution::Tool {
                    tool,
                    args,
                    effects,
                    consent,
                    skill,
                } => {
                    let (question, covers) = match &consent {
                        Some(consent) => (consent.question.clone(), consent.covers.clone()),
                        None => (None, None),
                    };
                    let target = Target::Tool {
                        tool,
                        args,
                        effects,
                        skill,
                        covers,
                    };
                    match self.machine.made_before(&target) {
                        Some(value) => Some(self.interpretation_event(
                            index,
                            Interpretation::Made,
                            value_text(value),
                        )),
                        None if consent.is_some() => {
                            self.question(index, target, question, running)
                        }
                        None => self.begin_call(index, target, running),
                    }
                }
                Resolution::Dispatch(dispatch) => Some(self.dispatch(index, dispatch)),
                Resolution::Blocked(failure) => running
                    .is_empty()
                    .then(|| self.fail(failure.mark_blocked())),
            },
        }
    }

    /// Takes a tool off the shelf if the model calls it while it is there.
    fn open(&self, index: usize, facts: &dyn Facts) -> Option<EventKind> {
        let want = self.turn.want(index, self.agent.setup.mode)?;
        looked_up::offer_called_tool(self.agent, want, facts)
    }

    /// Asks a person, once no other call is running.
    fn question(
        &self,
        index: usize,
        target: Target,
        question: Option<String>,
        running: &[&Call],
    ) -> Option<EventKind> {
        match target {
            Target::Tool {
                tool,
                args,
                effects,
                skill,
                covers,
            } if running.is_empty() => Some(EventKind::Question {
                turn: self.number(),
                call: ordinal(index),
                message: question
                    .unwrap_or_else(|| words::question(skill.as_ref().unwrap_or(&tool), &args)),
                tool,
                args,
                effects,
                skill,
                covers,
            }),
            Target::Tool { .. } | Target::Dispatch(_) => None,
        }
    }

    /// Returns the calls before one that run together with it, judging by their order alone. Two equal calls
    /// never run together, so that the breaker sees each of them.
    fn group(&self, index: usize) -> &[Call] {
        let before = &self.turn.calls[..index];
        let mut from = 0;
        for (at, call) in before.iter().enumerate() {
            match &call.target {
                Some(target) if !is_free_target(target) => from = at + 1,
                Some(target) if contains(&before[from..at], target) => from = at,
                _ => {}
            }
        }
        &before[from..]
    }

    /// Makes a call, unless it has to wait for the running ones. The decision never depends on which of them
    /// was quicker.
    fn begin_call(&self, index: usize, target: Target, running: &[&Call]) -> Option<EventKind> {
        let joins = is_free_target(&target) && !contains(self.group(index), &target);
        if !running.is_empty() && !joins {
            return None;
        }
        let (turn, call) = (self.number(), ordinal(index));
        Some(match target {
            Target::Tool {
                tool,
                args,
                effects,
                skill,
                covers,
            } => EventKind::Called {
                turn,
                call,
                tool,
                args,
                effects,
                skill,
                covers,
            },
            Target::Dispatch(dispatch) => EventKind::Dispatched {
                turn,
                call,
                dispatch,
            },
        })
    }

    fn dispatch(&self, index: usize, dispatch: Dispatch) -> EventKind {
        let limits = &self.agent.setup.limits;
        let sent = |call: &&Call| matches!(call.target, Some(Target::Dispatch(_)));
        let sent = self.turn.calls.iter().filter(sent).count();
        let refusal = if self.agent.address.depth() >= limits.max_depth as usize {
            words::too_deep(limits.max_depth)
        } else if sent >= limits.fan_out as usize {
            words::too_many(limits.fan_out)
        } else {
            return EventKind::Dispatched {
                turn: self.number(),
                call: ordinal(index),
                dispatch,
            };
        };
        self.interpretation_event(index, Interpretation::Refused, refusal)
    }

    fn resolve(&self, index: usize, facts: &dyn Facts) -> Resolution {
        let setup = &self.agent.setup;
        match self.turn.want(index, setup.mode) {
            Some(ModelCall::Command(written)) => match &written.problem {
                Some(problem) => Resolution::Problem(problem.clone()),
                None => looked_up::resolve_late_tool(self.agent, &written.line)
                    .or_else(|| commands::resolve_without_lookup(setup, &written.line))
                    .unwrap_or_else(|| facts.resolve(setup, RequestedCall::Command(&written.line))),
            },
            Some(ModelCall::Call(call)) => self.resolve_call(call, index, facts),
            Some(ModelCall::Stray(call)) => Resolution::Refused(words::no_tools(&call.name)),
            // Every call of a turn has a `want`, so this does not happen.
            None => Resolution::Mistaken(words::no_tools("")),
        }
    }

    /// Resolves a tool call. Only offered tools are considered, whatever else the host has (S0.53).
    fn resolve_call(&self, call: &ToolCall, index: usize, facts: &dyn Facts) -> Resolution {
        let setup = &self.agent.setup;
        let offered = |offer: &&crate::Offer| offer.spec.name == call.name;
        let Some(offer) = setup.tools.iter().find(offered) else {
            return Resolution::Refused(words::not_offered(setup, &call.name));
        };
        if let Some(described) = looked_up::resolve_late_tool(self.agent, &call.name) {
            return described;
        }
        let last = index + 1 == self.turn.calls.len();
        if last && self.reply.stop == StopReason::Length {
            return Resolution::Mistaken(words::cut_off_call(&call.name));
        }
        match &call.args {
            CallArgs::Invalid(raw) => Resolution::Mistaken(words::unreadable(&call.name, raw)),
            CallArgs::Object(_) => facts.resolve(setup, RequestedCall::Tool(offer, call)),
        }
    }

    fn interpretation_event(&self, index: usize, how: Interpretation, text: String) -> EventKind {
        let want = self.turn.want(index, self.agent.setup.mode);
        EventKind::Told {
            turn: self.number(),
            call: ordinal(index),
            name: want.map(ModelCall::name).unwrap_or_default().to_owned(),
            how,
            text,
        }
    }

    fn fail(&self, failure: Failure) -> EventKind {
        failure_event(text_for_person(self.agent, self.reply), failure)
    }

    fn number(&self) -> u32 {
        ordinal(self.agent.turns.len())
    }
}

/// Whether other calls may run beside a running call.
fn is_free(call: &Call) -> bool {
    let asking = matches!(call.state, CallState::Asking { .. });
    !asking && call.target.as_ref().is_some_and(is_free_target)
}

fn contains(calls: &[Call], target: &Target) -> bool {
    let mut targets = calls.iter().filter_map(|call| call.target.as_ref());
    targets.any(|known| known == target)
}

fn is_free_target(target: &Target) -> bool {
    match target {
        Target::Tool { effects, .. } => *effects == Effects::None,
        Target::Dispatch(_) => true,
    }
}
