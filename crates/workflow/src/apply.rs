//! Applies events to a machine. Nothing is evaluated here.
//!
//! The end of a call is applied in `follow.rs`, a resumption in `resume.rs`. Events that do not fit the state
//! are refused, so a damaged log is detected.

use std::sync::Arc;

use deft_model::{Failure, FailureClass, Object};
use jiff::Timestamp;
use serde_json::Value;

use crate::Path;
use crate::call::Call;
use crate::event::{Answer, Event, RunStart};
use crate::machine::{Divergence, Machine, Recovery};
use crate::progress::misplaced_event;
use crate::size::size;
use crate::state::{Fatal, FatalKind, Frame, Origin, Phase, Position, Question, Try, TryState};

impl Machine {
    /// Applies `event`, recorded at `at`, to the state. Fails if the event does not fit the state.
    pub fn apply(&mut self, at: Timestamp, event: &Event) -> Result<(), Divergence> {
        match event {
            Event::Prepared(_) if self.origin.is_some() => Err(Divergence(
                "the run was prepared after it had begun".to_owned(),
            )),
            // The process that starts the run has read it already.
            Event::Prepared(_) => Ok(()),
            Event::Started(started) => self.apply_started(at, started),
            Event::Reused {
                path,
                value,
                error,
                called,
            } => {
                called.iter().for_each(|tool| self.note_tool(0, tool));
                self.apply_reused(path, value.as_ref(), error.as_ref())
            }
            Event::Skipped { path, .. } => self.apply_skipped(path),
            Event::Listed { path, items, .. } => self.apply_items(at, path, items),
            Event::Asked {
                path,
                message,
                default,
                operation,
            } => {
                let question = Question {
                    message: message.clone(),
                    default: *default,
                    operation: operation.clone(),
                };
                self.apply_question(at, path, question)
            }
            Event::Answered { path, answer, by } => self.apply_answer(at, path, *answer, by),
            Event::Begun(begun) => match self.frame_of(&begun.path) {
                Some(frame) => self.outputs_begun(at, frame, begun),
                None => self.begin_call(at, begun),
            },
            Event::Ended(ended) => match self.frame_of(&ended.path) {
                Some(frame) => self.outputs_ended(frame, ended),
                None => self.apply_call_end(at, ended),
            },
            Event::Agent { path, .. } => self.check_agent_event(path),
            Event::Healed {
                path, error, next, ..
            } => self.apply_healed(at, path, error.as_ref(), next),
            Event::Woken { path } => self.apply_woken(at, path),
            Event::Entered {
                path,
                revision,
                inputs,
                until,
            } => self.apply_entered(at, path, revision, inputs, *until),
            Event::Continued {
                path,
                attempt,
                until,
            } => self.continue_nested(at, path, *attempt, *until),
            Event::Expired { path, failure } => self.apply_expired(at, path, failure),
            Event::Closed {
                path,
                values,
                error,
                ms,
            } => self.apply_closed(path, values, error.as_ref(), *ms),
            Event::Stopped { failure } => self.stop(at, failure),
            Event::Recovered { interrupted_at } => {
                self.recovered = Some(Recovery {
                    interrupted_at: *interrupted_at,
                    resumed_at: at,
                });
                Ok(())
            }
            Event::Resumed { .. } => {
                self.apply_resumed(at);
                Ok(())
            }
            Event::Finished(finished) => {
                // A run that is cancelled in the queue ends before it begins and has no frame.
                if let Some(root) = self.frames.first_mut() {
                    root.left = true;
                }
                self.finished = Some(finished.clone());
                Ok(())
            }
        }
    }

    fn apply_started(&mut self, at: Timestamp, started: &RunStart) -> Result<(), Divergence> {
        if self.origin.is_some() {
            return Err(Divergence("the run began twice".to_owned()));
        }
        self.origin = Some(Origin {
            started: started.clone(),
            at,
        });
        let frame = Frame::new(Arc::clone(&self.plan), &started.inputs);
        self.push_frame(frame);
        Ok(())
    }

    fn apply_reused(
        &mut self,
        path: &Path,
        value: Option<&Value>,
        error: Option<&Failure>,
    ) -> Result<(), Divergence> {
        let at = self.locate_pending(path)?;
        self.results = self.results.saturating_add(value.map_or(0, size));
        let state = self.state(at);
        state.value = value.cloned().map(Arc::new);
        state.error = error.cloned();
        let phase = match (value, error) {
            (_, Some(_)) => Phase::Error,
            (Some(_), None) => Phase::Success,
            (None, None) => Phase::Skipped,
        };
        self.open(at);
        self.end_step(at, phase)
    }

    /// Checks that the step of an agent event has not ended; it may be between two tries. The event itself is
    /// applied by the state machine of the agent.
    fn check_agent_event(&mut self, path: &Path) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        if self.current_try(at)?.state.has_ended() {
            return Err(misplaced_event(path, "continued after it had ended"));
        }
        Ok(())
    }

    fn apply_skipped(&mut self, path: &Path) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        if at.item.is_none() {
            let at = self.locate_pending(path)?;
            self.open(at);
            return self.end_step(at, Phase::Skipped);
        }
        if self.current_try(at)?.state.has_ended() {
            return Err(misplaced_event(path, "was skipped after it had ended"));
        }
        self.open_item(at)?;
        self.current_try(at)?.state = TryState::Skipped;
        self.item_over(at)
    }

    fn apply_items(
        &mut self,
        now: Timestamp,
        path: &Path,
        items: &[Value],
    ) -> Result<(), Divergence> {
        let at = self.locate_pending(path)?;
        if self.frames[at.frame].plan.steps[at.step].list.is_none() {
            return Err(misplaced_event(path, "listed items, but is not a loop"));
        }
        self.open(at);
        let state = self.state(at);
        state.started_at = Some(now);
        state.tries = vec![Try::default(); items.len()];
        state.items = Some(items.iter().cloned().map(Arc::new).collect());
        self.next_items(at);
        Ok(())
    }

    fn apply_question(
        &mut self,
        now: Timestamp,
        path: &Path,
        question: Question,
    ) -> Result<(), Divergence> {
        let at = self.locate_pending(path)?;
        self.open(at);
        self.pause(now, at.frame);
        let state = self.state(at);
        state.phase = Phase::Asking;
        state.judged = Some(true);
        state.asked = Some(Arc::new(question));
        self.fresh.push(at);
        Ok(())
    }

    fn apply_answer(
        &mut self,
        now: Timestamp,
        path: &Path,
        answer: Answer,
        by: &str,
    ) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        if self.state(at).phase != Phase::Asking {
            return Err(misplaced_event(
                path,
                "got an answer, but no question was pending",
            ));
        }
        self.unpause(now, at.frame);
        self.state(at).answer = Some(answer);
        if answer != Answer::No {
            return self.reopen(at);
        }
        let message = format!("declined by {by} before step `{path}`");
        self.fail(Fatal {
            at,
            failure: Failure::new(FailureClass::Cancelled, message),
            kind: FatalKind::Declined,
            in_doubt: false,
        });
        self.end_step(at, Phase::Refused)
    }

    fn apply_entered(
        &mut self,
        now: Timestamp,
        path: &Path,
        revision: &str,
        inputs: &Object,
        until: Option<Timestamp>,
    ) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        let plan = self.nested.get(revision);
        let plan = plan.ok_or_else(|| Divergence(format!("revision `{revision}` is missing")))?;
        let mut frame = Frame::new(Arc::clone(plan), inputs);
        let tried = self.current_try(at)?;
        let since = match &tried.state {
            TryState::Calling { call, at, .. } if matches!(**call, Call::Skill { .. }) => *at,
            TryState::Idle
            | TryState::Ready
            | TryState::Calling { .. }
            | TryState::Inside { .. }
            | TryState::Healing { .. }
            | TryState::Waiting { .. }
            | TryState::Ended(_)
            | TryState::Failed(_)
            | TryState::Skipped => {
                return Err(misplaced_event(
                    path,
                    "began a nested skill, but did not call one",
                ));
            }
        };
        frame.healed_before = tried.heals;
        frame.prefix = match tried.attempts {
            0 | 1 => format!("{path}/"),
            attempts => format!("{path}~{attempts}/"),
        };
        frame.parent = Some(at);
        frame.depth = self.frames[at.frame].depth + 1;
        frame.untrusted_inputs = self.frames[at.frame].untrusted_args(at.step, &frame.plan);
        frame.stopped.clone_from(&self.frames[at.frame].stopped);
        let frame = self.push_frame(frame);
        self.limit(frame, now, until);
        let tried = self.current_try(at)?;
        tried.state = TryState::Inside { frame, since };
        tried.inner = Some(frame);
        Ok(())
    }

    fn apply_closed(
        &mut self,
        path: &Path,
        values: &[Value],
        error: Option<&Failure>,
        ms: u64,
    ) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        let state = self.state(at);
        state.ms = ms;
        state.value = Some(Arc::new(Value::Array(values.to_vec())));
        state.error = error.cloned();
        let phase = match error {
            Some(_) => Phase::Failed,
            None => Phase::Success,
        };
        self.end_step(at, phase)
    }

    fn stop(&mut self, now: Timestamp, failure: &Failure) -> Result<(), Divergence> {
        self.stopped.get_or_insert_with(|| failure.clone());
        for frame in 0..self.frames.len() {
            self.stop_frame(now, frame, failure)?;
        }
        Ok(())
    }

    /// Ends everything in a frame that only waits: questions, `wait:` steps and retries.
    pub(crate) fn stop_frame(
        &mut self,
        now: Timestamp,
        frame: usize,
        failure: &Failure,
    ) -> Result<(), Divergence> {
        for step in 0..self.frames[frame].steps.len() {
            self.stop_step(now, frame, step, failure)?;
        }
        self.leaving.push_back(frame);
        Ok(())
    }

    /// Ends a step that only waits; calls in flight are ended by the engine.
    fn stop_step(
        &mut self,
        now: Timestamp,
        frame: usize,
        step: usize,
        failure: &Failure,
    ) -> Result<(), Divergence> {
        let item = None;
        let at = Position { frame, step, item };
        if self.state(at).phase == Phase::Asking {
            self.unpause(now, frame);
            return self.end_step(at, Phase::Refused);
        }
        let looped = self.state(at).items.is_some();
        for item in 0..self.state(at).tries.len() {
            let this = looped.then_some(item);
            let is_wait = self.is_wait(Position { item: this, ..at });
            if is_wait {
                self.unpause(now, frame);
            }
            let waits = match self.state(at).tries[item].state {
                TryState::Waiting { .. } => true,
                TryState::Calling { .. } => is_wait,
                // The item is about to begin again.
                TryState::Ready => looped,
                TryState::Idle
                | TryState::Inside { .. }
                | TryState::Healing { .. }
                | TryState::Ended(_)
                | TryState::Failed(_)
                | TryState::Skipped => false,
            };
            if waits {
                let item = looped.then_some(item);
                self.fail_try(
                    now,
                    Position { frame, step, item },
                    failure,
                    FatalKind::Error,
                )?;
            }
        }
        if looped {
            self.next_items(at);
        }
        Ok(())
    }

    /// Returns the position of the step at `path`; fails if the step has begun.
    fn locate_pending(&mut self, path: &Path) -> Result<Position, Divergence> {
        let at = self.locate(path)?;
        if at.item.is_some() || self.state(at).phase != Phase::Pending {
            return Err(misplaced_event(path, "began twice"));
        }
        Ok(at)
    }
}
