//! Application of events to a machine. Nothing is decided or called here, so a replay gives the same agent.
//! Events that do not fit the state are refused.

use deft_model::{Failure, FailureClass, ModelReply};
use serde_json::Value;

use super::state::{Agent, Call, CallEnd, CallState, Reminder, Target, Turn, TurnState};
use super::turn::wrote_commands;
use super::{CallRef, Divergence, Machine};
use crate::address::Address;
use crate::event::{Event, EventKind, WrittenCommand};
use crate::setup::{Offer, Setup};

impl Machine {
    /// Applies an event to the state. Fails if the event does not fit the state.
    pub fn apply(&mut self, event: &Event) -> Result<(), Divergence> {
        let agent = &event.agent;
        match &event.what {
            EventKind::Began(setup) => self.begin(agent, setup),
            EventKind::Unable { failure } => {
                self.call_in_preparation(agent)?.state = CallState::Unable(failure.clone());
                Ok(())
            }
            EventKind::Asked { turn } => self.apply_request(agent, *turn),
            EventKind::Replied {
                turn,
                reply,
                commands,
                ms,
                ..
            } => self.has_replied(agent, *turn, reply, commands, *ms),
            EventKind::Silent { turn, failure } => {
                let turn = self.turn(agent, *turn, |state| *state == TurnState::Asked)?;
                turn.state = TurnState::NoReply(failure.clone());
                Ok(())
            }
            EventKind::Returned {
                turn,
                call,
                value,
                error,
                ms,
            } => self.has_returned(agent, (*turn, *call), value.as_ref(), error.as_ref(), *ms),
            EventKind::Offered { turn, tools } => self.apply_offer(agent, *turn, tools),
            EventKind::Reminded { turn, text } => self.apply_reminder(agent, *turn, text),
            EventKind::Rejected {
                turn,
                failure,
                text,
            } => self.apply_rejection(agent, *turn, failure, text),
            EventKind::Finished(finished) => {
                let agent = self.index_of_running(agent)?;
                self.agents[agent].finished = Some(finished.clone());
                Ok(())
            }
            EventKind::Reopened => self.apply_reopening(agent),
            EventKind::Told { .. }
            | EventKind::Question { .. }
            | EventKind::Answered { .. }
            | EventKind::Called { .. }
            | EventKind::Dispatched { .. } => self.call_moves(agent, &event.what),
        }
    }

    /// Applies an event of a call that has not ended.
    fn call_moves(&mut self, agent: &Address, what: &EventKind) -> Result<(), Divergence> {
        match what {
            EventKind::Told {
                turn,
                call,
                how,
                text,
                ..
            } => {
                let end = CallEnd::TextReply {
                    how: *how,
                    text: text.clone(),
                };
                self.record_text(agent, (*turn, *call), end)
            }
            EventKind::Question {
                turn,
                call,
                tool,
                args,
                message,
                effects,
                skill,
                covers,
            } => {
                let target = Target::Tool {
                    tool: tool.clone(),
                    args: args.clone(),
                    effects: *effects,
                    skill: skill.clone(),
                    covers: covers.clone(),
                };
                let message = message.clone();
                self.begins(agent, (*turn, *call), target, CallState::Asking { message })
            }
            EventKind::Called {
                turn,
                call,
                tool,
                args,
                effects,
                skill,
                covers,
            } => {
                let target = Target::Tool {
                    tool: tool.clone(),
                    args: args.clone(),
                    effects: *effects,
                    skill: skill.clone(),
                    covers: covers.clone(),
                };
                self.begins(agent, (*turn, *call), target, CallState::Calling)
            }
            EventKind::Dispatched {
                turn,
                call,
                dispatch,
            } => {
                let target = Target::Dispatch(dispatch.clone());
                self.begins(agent, (*turn, *call), target, CallState::Preparing)
            }
            EventKind::Answered {
                turn,
                call,
                yes,
                by,
                person,
            } => {
                let asking = |state: &CallState| matches!(state, CallState::Asking { .. });
                let call = self.call(agent, (*turn, *call), asking)?;
                if let Some(Target::Tool {
                    covers: Some(covers),
                    ..
                }) = &mut call.target
                {
                    covers.by_person = *person;
                }
                call.state = CallState::Answered {
                    yes: *yes,
                    by: by.clone(),
                };
                Ok(())
            }
            EventKind::Began(_)
            | EventKind::Unable { .. }
            | EventKind::Asked { .. }
            | EventKind::Replied { .. }
            | EventKind::Silent { .. }
            | EventKind::Returned { .. }
            | EventKind::Offered { .. }
            | EventKind::Reminded { .. }
            | EventKind::Rejected { .. }
            | EventKind::Finished(_)
            | EventKind::Reopened => Ok(()),
        }
    }

    fn begin(&mut self, address: &Address, setup: &Setup) -> Result<(), Divergence> {
        if self.places.contains_key(address) {
            return Err(misplaced_event(address, "begins twice"));
        }
        if !address.is_root() {
            self.call_in_preparation(address)?.state = CallState::Running;
        }
        self.places.insert(address.clone(), self.agents.len());
        self.agents.push(Agent::new(address.clone(), setup));
        Ok(())
    }

    /// Returns the call whose agent is being prepared.
    fn call_in_preparation(&mut self, address: &Address) -> Result<&mut Call, Divergence> {
        let unknown = || misplaced_event(address, "was not dispatched");
        let (parent, turn, call) = address.parent().ok_or_else(unknown)?;
        self.call(&parent, (turn, call), |state| {
            *state == CallState::Preparing
        })
    }

    fn apply_request(&mut self, address: &Address, turn: u32) -> Result<(), Divergence> {
        let place = self.index_of_running(address)?;
        let agent = &mut self.agents[place];
        let open = agent
            .turns
            .last()
            .is_some_and(|turn| turn.reply().is_none());
        if open || agent.turns.len() + 1 != turn as usize {
            return Err(misplaced_event(address, "asks out of turn"));
        }
        agent.turns.push(Turn::new_request());
        self.note(place, None);
        Ok(())
    }

    fn has_replied(
        &mut self,
        address: &Address,
        turn: u32,
        reply: &ModelReply,
        commands: &[WrittenCommand],
        ms: u64,
    ) -> Result<(), Divergence> {
        let asked = |state: &TurnState| *state == TurnState::Asked;
        self.turn(address, turn, asked)?
            .record_reply(reply, commands);
        let place = self.index_of_running(address)?;
        self.agents[place].ms = self.agents[place].ms.saturating_add(ms);
        Ok(())
    }

    fn record_text(
        &mut self,
        address: &Address,
        at: (u32, u32),
        end: CallEnd,
    ) -> Result<(), Divergence> {
        let open = |state: &CallState| {
            matches!(
                state,
                CallState::Pending | CallState::Answered { yes: false, .. }
            )
        };
        self.call(address, at, open)?.state = CallState::Ended(end);
        Ok(())
    }

    fn has_returned(
        &mut self,
        address: &Address,
        at: (u32, u32),
        value: Option<&Value>,
        error: Option<&Failure>,
        ms: u64,
    ) -> Result<(), Divergence> {
        let call = self.call(address, at, |state| {
            matches!(
                state,
                CallState::Calling | CallState::Running | CallState::Unable(_)
            )
        })?;
        call.state = CallState::Ended(match error {
            Some(failure) => CallEnd::Failed(failure.clone()),
            None => CallEnd::Value(value.cloned().unwrap_or_default()),
        });
        let place = self.index_of_running(address)?;
        let agent = &mut self.agents[place];
        agent.ms = agent.ms.saturating_add(ms);
        Ok(())
    }

    fn apply_reminder(
        &mut self,
        address: &Address,
        turn: u32,
        text: &str,
    ) -> Result<(), Divergence> {
        let place = self.index_of_running(address)?;
        let agent = &self.agents[place];
        let required = !agent.reminded_of_calls && !self.missing_calls(agent).is_empty();
        let of_commands = !required && wrote_commands(agent);
        let replied = |state: &TurnState| matches!(state, TurnState::Replied(_));
        self.turn(address, turn, replied)?.reminder = Some(Reminder {
            text: text.to_owned(),
            required,
            rejected: None,
        });
        let agent = &mut self.agents[place];
        agent.reminded_of_calls |= required;
        agent.told_of_commands |= of_commands;
        agent.reminded_to_speak |= !required && !of_commands;
        Ok(())
    }

    fn apply_offer(
        &mut self,
        address: &Address,
        turn: u32,
        tools: &[Offer],
    ) -> Result<(), Divergence> {
        let replied = |state: &TurnState| matches!(state, TurnState::Replied(_));
        self.turn(address, turn, replied)?;
        let place = self.index_of_running(address)?;
        self.agents[place].open(tools);
        Ok(())
    }

    fn apply_reopening(&mut self, address: &Address) -> Result<(), Divergence> {
        let place = self.places.get(address).copied();
        let place = place.filter(|place| self.agents[*place].failure().is_some());
        let place = place.ok_or_else(|| misplaced_event(address, "has not failed"))?;
        let failure = self.agents[place].failure();
        if failure.is_some_and(|failure| failure.class == FailureClass::Limit) {
            self.calls_before_resume = self.calls_made();
        }
        self.reopen(place);
        Ok(())
    }

    /// Resumes an agent, and the agents below whose failures ended it or that were still running. They exist
    /// already, so their calls are not begun again.
    fn reopen(&mut self, place: usize) {
        let agent = &self.agents[place];
        let turn = agent.turns.len();
        let calls = agent.turns.last().map_or(&[][..], |turn| &turn.calls);
        let below = calls.iter().enumerate().filter_map(|(index, call)| {
            let below = *self.places.get(&super::child(agent, turn, index))?;
            let is_running =
                call.state == CallState::Running && self.agents[below].finished.is_none();
            (is_running || call.fatal().is_some()).then_some((index, below))
        });
        let below: Vec<(usize, usize)> = below.collect();
        self.agents[place].reopen();
        for (call, below) in below {
            if let Some(call) = self.agents[place].last_call(call) {
                call.state = CallState::Running;
            }
            self.reopen(below);
        }
    }

    fn begins(
        &mut self,
        address: &Address,
        at: (u32, u32),
        target: Target,
        state: CallState,
    ) -> Result<(), Divergence> {
        let call = self.call(address, at, can_begin)?;
        call.target = Some(target);
        call.state = state;
        let place = self.index_of_running(address)?;
        self.note(place, Some(at.1 as usize));
        Ok(())
    }

    fn note(&mut self, agent: usize, call: Option<usize>) {
        let place = CallRef { agent, call };
        if !self.fresh.contains(&place) {
            self.fresh.push(place);
        }
    }

    /// Returns the index of an agent that has not ended.
    fn index_of_running(&self, address: &Address) -> Result<usize, Divergence> {
        let place = self.places.get(address).copied();
        let place = place.ok_or_else(|| misplaced_event(address, "has not begun"))?;
        match self.agents[place].finished {
            None => Ok(place),
            Some(_) => Err(misplaced_event(address, "continues after it has ended")),
        }
    }

    /// Returns the last turn of an agent. Fails unless it has this number and its state fits.
    fn turn(
        &mut self,
        address: &Address,
        number: u32,
        fits: impl Fn(&TurnState) -> bool,
    ) -> Result<&mut Turn, Divergence> {
        let place = self.index_of_running(address)?;
        let turns = &mut self.agents[place].turns;
        let last = turns.len() == number as usize;
        let turn = turns.last_mut().filter(|turn| last && fits(&turn.state));
        turn.ok_or_else(|| {
            misplaced_event(address, &format!("is not at this point of turn {number}"))
        })
    }

    fn call(
        &mut self,
        address: &Address,
        (turn, call): (u32, u32),
        fits: impl Fn(&CallState) -> bool,
    ) -> Result<&mut Call, Divergence> {
        let replied = |state: &TurnState| matches!(state, TurnState::Replied(_));
        let calls = &mut self.turn(address, turn, replied)?.calls;
        let call_at = calls.get_mut(call as usize);
        call_at.filter(|call| fits(&call.state)).ok_or_else(|| {
            misplaced_event(
                address,
                &format!("is not at this point of call {turn}.{call}"),
            )
        })
    }
}

fn can_begin(state: &CallState) -> bool {
    matches!(
        state,
        CallState::Pending | CallState::Retry | CallState::Answered { yes: true, .. }
    )
}

pub(super) fn misplaced_event(address: &Address, what: &str) -> Divergence {
    if address.is_root() {
        Divergence(format!("the agent {what}"))
    } else {
        Divergence(format!("the agent `{address}` {what}"))
    }
}
