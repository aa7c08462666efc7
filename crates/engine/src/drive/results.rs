//! Converts results of actions to events.
use std::sync::Arc;

use deft_agents::answer_to;
use deft_model::Failure;
use deft_workflow::{Event, Machine, Path};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Driver;
use crate::perform::ActionResult;
use crate::waiting;

/// How often a run checks whether a missing tool is back, if no other process reports it.
const TOOL_POLL_INTERVAL: SignedDuration = SignedDuration::from_mins(5);

impl Driver {
    /// Records the result of an action.
    pub(super) fn record_result(&mut self, done: ActionResult) {
        let now = self.engine.now();
        if !matches!(done, ActionResult::AgentStep { .. }) {
            self.cancel_tokens.remove(done.path());
        }
        let event = match done {
            ActionResult::Called {
                path,
                attempt,
                result,
                ms,
                cached,
                writes,
            } => {
                self.calling -= 1;
                self.journal.write(writes);
                let event =
                    self.call_end_event((&path, attempt), result, now, |machine, result| {
                        machine.end_call(&path, attempt, result, now, ms, cached)
                    });
                // This may have been the check of an agent's answer.
                self.record_messages(&path, &event, now);
                event
            }
            ActionResult::AgentStep {
                path,
                attempt,
                result,
            } => return self.record_agent_result(&path, attempt, result),
            ActionResult::Loaded {
                path,
                attempt,
                result,
            } => {
                self.calling -= 1;
                match result {
                    Ok((pinned, inputs)) => self.machine.enter(&path, pinned.plan, inputs, now),
                    Err(failure) => {
                        self.machine
                            .end_call(&path, attempt, Err(failure), now, 0, false)
                    }
                }
            }
            ActionResult::Healed { path, result, ms } => {
                self.calling -= 1;
                self.machine.heal_event(&path, result, now, ms)
            }
            ActionResult::Woken { path, until } => {
                if let Some(at) = self.sleeping.iter().position(|other| *other == until) {
                    self.sleeping.swap_remove(at);
                }
                let is_wait = self.machine.waits_until(&path) == Some(until);
                if is_wait && let Some(at) = self.waits.iter().position(|other| *other == until) {
                    self.waits.swap_remove(at);
                }
                if is_wait && now < until {
                    // Cut off, because the run is stopping.
                    return;
                }
                match self.machine.wait_end_event(&path, now) {
                    Some(event) => event,
                    None if self.machine.is_waiting(&path) => {
                        self.blocked_by = None;
                        Event::Woken { path }
                    }
                    None => return,
                }
            }
            ActionResult::Answered { question, answer } => {
                self.calling -= 1;
                match answer {
                    Some((answer, by)) if self.machine.stop_reason().is_none() => Event::Answered {
                        path: question.path,
                        answer,
                        by,
                    },
                    Some(_) => return,
                    None => {
                        self.unanswered.push(question);
                        return;
                    }
                }
            }
        };
        self.record(event);
    }

    /// Returns the event for the result of a call. A call that lacks a tool is postponed, as long as the run
    /// waits for missing tools.
    pub(super) fn call_end_event(
        &mut self,
        (path, attempt): (&Path, u32),
        result: Result<Value, Failure>,
        now: Timestamp,
        to_event: impl FnOnce(&Machine, Result<Value, Failure>) -> Event,
    ) -> Event {
        match (result, self.next_look(now)) {
            (Err(failure), Some(until)) if failure.blocked && !path.is_outputs() => {
                self.blocked_by = Some(failure.clone());
                self.machine.postpone_call(path, attempt, failure, until)
            }
            (result, _) => to_event(&self.machine, result),
        }
    }

    /// Returns when to retry a call that lacks a tool; `None` if the run no longer waits for missing tools.
    fn next_look(&self, now: Timestamp) -> Option<Timestamp> {
        let last = self.tools_deadline.filter(|last| *last > now)?;
        let look = now.saturating_add(TOOL_POLL_INTERVAL).ok()?;
        Some(look.min(last))
    }

    /// Tells people what an unattended run waits for: an answer, or a tool.
    pub(super) async fn notify_about_wait(&mut self, now: Timestamp) {
        if !self.attention.parks {
            return;
        }
        let (engine, run) = (Arc::clone(&self.engine), self.run.clone());
        let chat = answer_to(&run).unwrap_or_else(|error| {
            tracing::error!(%error, "cannot find the chat of an approval; the approval is sent as a notice");
            None
        });
        for question in &self.unanswered {
            if let Some(chat) = &chat {
                match engine.send_question(question, chat).await {
                    Ok(_) => continue,
                    Err(error) => {
                        tracing::warn!(%error, "cannot send an approval to its chat; the approval is sent as a notice");
                    }
                }
            }
            let write = waiting::question(&run, question, now);
            self.journal.write([write]);
        }
        let until = self.tools_deadline;
        if let Some(missing) = &self.blocked_by
            && let Some(write) = engine.alert_blocked(&run, missing, until, now).await
        {
            self.journal.write([write]);
        }
    }
}
