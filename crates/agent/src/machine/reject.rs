//! Rejection of an answer that does not meet the post-condition of the agent's step: the agent is told why
//! and asked again. Calls that it made are not undone.
//!
//! Not here: the post-condition, and how often the step is tried (`workflow`).

use deft_model::{Effects, Failure};
use serde_json::Value;

use super::apply::misplaced_event;
use super::state::{Agent, CallEnd, Reminder, Target};
use super::{Divergence, Machine, ordinal, words};
use crate::address::Address;
use crate::event::{Event, EventKind};

impl Machine {
    /// Rejects the answer of an agent: the agent is told why and asked again. The event is applied already,
    /// like that of [`retry`](Self::retry). Returns nothing if the agent has not answered.
    pub fn reject(&mut self, failure: &Failure) -> Vec<Event> {
        let Some(root) = self.agents.first() else {
            return Vec::new();
        };
        let event = Event {
            agent: Address::root(),
            what: EventKind::Rejected {
                turn: ordinal(root.turns.len()),
                failure: failure.clone(),
                text: words::rejection_text(&root.setup, failure, &self.missing_calls(root)),
            },
        };
        let applied = self.apply(&event).is_ok();
        applied.then_some(event).into_iter().collect()
    }

    /// Returns the result of an equal call that any of the agents made before the last answer was rejected.
    /// Calls that only read are made again, because that does no harm and may return something new; all
    /// others are made once.
    pub(super) fn made_before(&self, wanted: &Target) -> Option<&Value> {
        let until = self.agents.first().map_or(0, |root| root.rejected_at);
        let repeatable = match wanted {
            Target::Tool { effects, .. } => *effects == Effects::None,
            Target::Dispatch(_) => true,
        };
        if until == 0 || repeatable {
            return None;
        }
        let made = self.agents.iter().flat_map(|agent| {
            let turns = match agent.address.first_turn() {
                None => until,
                Some(turn) if turn as usize <= until => usize::MAX,
                Some(_) => 0,
            };
            agent.successful_calls(turns)
        });
        let same = made.filter(|(target, _)| target.is_same(wanted));
        same.last().map(|(_, value)| value)
    }

    /// Applies a rejection. Only the agent of the step has a post-condition.
    pub(super) fn apply_rejection(
        &mut self,
        address: &Address,
        turn: u32,
        failure: &Failure,
        text: &str,
    ) -> Result<(), Divergence> {
        let root = self.agents.first().filter(|_| address.is_root());
        let root = root.filter(|root| root.has_answered() && root.turns.len() == turn as usize);
        let required = match root {
            Some(root) => !self.missing_calls(root).is_empty(),
            None => return Err(misplaced_event(address, "has not answered")),
        };
        let reminder = Reminder {
            text: text.to_owned(),
            required,
            rejected: Some(failure.clone()),
        };
        if let Some(root) = self.agents.first_mut() {
            root.reject(reminder);
        }
        Ok(())
    }
}

impl Agent {
    /// Whether it has ended with an answer.
    fn has_answered(&self) -> bool {
        self.finished.as_ref().is_some_and(|it| it.error.is_none())
    }

    /// Continues after an answer, see [`EventKind::Rejected`](crate::EventKind::Rejected). The counts for the
    /// limit of steps and for the loop breaker continue too.
    fn reject(&mut self, reminder: Reminder) {
        self.finished = None;
        self.rejected_at = self.turns.len();
        self.reminded_of_calls |= reminder.required;
        if let Some(turn) = self.turns.last_mut() {
            turn.reminder = Some(reminder);
        }
    }

    /// Returns the calls of its first turns that returned a value, with their targets.
    fn successful_calls(&self, turns: usize) -> impl Iterator<Item = (&Target, &Value)> {
        let calls = self.turns.iter().take(turns).flat_map(|turn| &turn.calls);
        calls.filter_map(|call| match (&call.target, call.end()) {
            (Some(target), Some(CallEnd::Value(value))) => Some((target, value)),
            _ => None,
        })
    }
}

impl Target {
    /// Whether both have the same effect outside.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Tool { tool, args, .. },
                Self::Tool {
                    tool: also,
                    args: like,
                    ..
                },
            ) => tool == also && args == like,
            (Self::Tool { .. } | Self::Dispatch(_), _) => false,
        }
    }
}
