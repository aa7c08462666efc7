//! The end of a frame: its outputs, or why it failed. Its post-conditions are checked in `expect_checks.rs`.
//!
//! Not here: what a failure means for the step that runs the frame's skill (`call_end.rs`).

use std::sync::Arc;

use deft_model::{Failure, FailureClass, Object, Outcome};
use deft_template::{Lookup, Scope};
use jiff::Timestamp;
use serde_json::Value;

use crate::event::{Event, RunEnd, RunError};
use crate::expect::{ExpectProblem, invalid};
use crate::machine::Machine;
use crate::plan::Plan;
use crate::progress::elapsed_ms;
use crate::scope::NameScope;
use crate::state::{FatalKind, Position, TryState, Verdict};

impl Machine {
    pub(crate) fn decide_leave(&self, now: Timestamp, index: usize) -> Option<Event> {
        let frame = &self.frames[index];
        let stuck = frame.failure.is_some() || self.stopped_in(index).is_some();
        if frame.left || frame.open > 0 || !(self.is_complete(index) || stuck) {
            return None;
        }
        if matches!(frame.verdict, Verdict::Asked { .. }) {
            return None;
        }
        let result = match self.result(index) {
            Ok(outputs) => Ok(outputs),
            Err(None) => return Some(self.verify_outputs(index)),
            Err(Some(failed)) => Err(failed),
        };
        let Some(parent) = frame.parent else {
            return Some(self.finish(now, result));
        };
        let state = &self.frames[parent.frame].steps[parent.step];
        let tried = state.tries.get(parent.item.unwrap_or(0))?;
        let TryState::Inside { since, .. } = tried.state else {
            return None;
        };
        let result = result.map_err(|(outcome, error)| self.outer_failure(index, outcome, error));
        let ms = elapsed_ms(since, now);
        Some(self.end_call(&self.path(parent), tried.attempts, result, now, ms, false))
    }

    fn is_complete(&self, index: usize) -> bool {
        self.frames[index].leading == self.frames[index].steps.len()
    }

    /// Returns the failure of a nested skill as the step that runs it sees it.
    fn outer_failure(&self, index: usize, outcome: Outcome, error: RunError) -> Failure {
        let mut failure = error.failure;
        failure.in_doubt = self.frames[index].in_doubt;
        if outcome == Outcome::Interrupted {
            failure.class = FailureClass::Interrupted;
        }
        failure
    }

    /// Returns the outputs of a frame, or why it failed. `Err(None)` means that the worker has to check the
    /// outputs.
    fn result(&self, index: usize) -> Result<Value, Option<(Outcome, RunError)>> {
        if !self.is_complete(index) {
            return Err(Some(self.why_incomplete(index)));
        }
        // A stop that comes after all steps have ended changes nothing, unless the worker would have to be
        // asked.
        let failure = match (self.outputs(index), self.stopped_in(index)) {
            (Ok(outputs), _) => return Ok(outputs),
            (Err(ExpectProblem::Breach(failure)), _) => failure,
            (Err(ExpectProblem::Unsupported(_)), Some(stopped)) => stopped.clone(),
            (Err(ExpectProblem::Unsupported(_)), None) => return Err(None),
        };
        let outcome = match failure.class {
            FailureClass::Cancelled => Outcome::Cancelled,
            FailureClass::Interrupted => Outcome::Interrupted,
            _ if failure.blocked => Outcome::Blocked,
            FailureClass::Network
            | FailureClass::Auth
            | FailureClass::Quota
            | FailureClass::NotFound
            | FailureClass::Timeout
            | FailureClass::Invalid
            | FailureClass::Limit
            | FailureClass::Budget
            | FailureClass::Other => Outcome::Error,
        };
        let step = None;
        Err(Some((outcome, RunError { failure, step })))
    }

    fn why_incomplete(&self, index: usize) -> (Outcome, RunError) {
        let frame = &self.frames[index];
        match (self.stopped_in(index), &frame.failure) {
            (None, Some(fatal)) => {
                let outcome = match fatal.kind {
                    FatalKind::Error => Outcome::Error,
                    FatalKind::Interrupted => Outcome::Interrupted,
                    FatalKind::Blocked => Outcome::Blocked,
                    FatalKind::Declined => Outcome::Cancelled,
                };
                let failure = fatal.failure.clone();
                let step = Some(self.path(self.innermost(fatal.at)));
                (outcome, RunError { failure, step })
            }
            (stopped, _) => {
                let failure = stopped.cloned().unwrap_or_else(|| {
                    Failure::new(FailureClass::Other, "the steps wait for each other")
                });
                let outcome = match failure.class {
                    FailureClass::Cancelled => Outcome::Cancelled,
                    // The driver stops a run before it has done anything because its budget is spent, or
                    // because there is nothing to do.
                    FailureClass::Budget => Outcome::Skipped,
                    FailureClass::Other if stopped.is_some() => Outcome::Skipped,
                    _ if failure.blocked => Outcome::Blocked,
                    FailureClass::Network
                    | FailureClass::Auth
                    | FailureClass::Quota
                    | FailureClass::NotFound
                    | FailureClass::Timeout
                    | FailureClass::Invalid
                    | FailureClass::Limit
                    | FailureClass::Interrupted
                    | FailureClass::Other => Outcome::Error,
                };
                let step = None;
                (outcome, RunError { failure, step })
            }
        }
    }

    /// Returns the step inside nested skills that a failure comes from.
    fn innermost(&self, at: Position) -> Position {
        let tries = &self.frames[at.frame].steps[at.step].tries;
        let inner = tries
            .get(at.item.unwrap_or(0))
            .and_then(|tried| self.frames[tried.inner?].failure.as_ref());
        inner.map_or(at, |fatal| self.innermost(fatal.at))
    }

    fn outputs(&self, index: usize) -> Result<Value, ExpectProblem> {
        let outputs = self.render_outputs(index)?;
        self.check_outputs(index, &outputs)?;
        Ok(outputs)
    }

    /// Renders the outputs of a frame.
    pub(crate) fn render_outputs(&self, index: usize) -> Result<Value, Failure> {
        let frame = &self.frames[index];
        let Some(view) = self.view(index, None) else {
            return Ok(Value::Null);
        };
        Ok(match &frame.plan.outputs {
            Some(outputs) => {
                let mut map = Object::with_capacity(outputs.len());
                for (name, tree) in outputs {
                    let value = tree.render(&view);
                    let value = value.map_err(|e| invalid(&format!("output `{name}`"), &e))?;
                    map.insert(name.clone(), value);
                }
                Value::Object(map)
            }
            None => unnamed_outputs(&frame.plan, &view),
        })
    }

    fn finish(&self, now: Timestamp, result: Result<Value, (Outcome, RunError)>) -> Event {
        let began = self.origin.as_ref().map(|origin| origin.at);
        let (outcome, outputs, error) = match result {
            Ok(outputs) => (Outcome::Success, outputs, None),
            Err((outcome, error)) => (outcome, Value::Null, Some(error)),
        };
        Event::Finished(RunEnd {
            outcome,
            outputs,
            error,
            ms: began.map_or(0, |began| elapsed_ms(began, now)),
        })
    }
}

/// Returns the outputs of a skill without `outputs`: the value of its only step, or the values of steps with
/// an output name. A record names no outputs, so a record of several steps returns the value of each step.
fn unnamed_outputs(plan: &Plan, view: &NameScope<'_>) -> Value {
    match plan.steps.as_slice() {
        several if plan.of_record && several.len() > 1 => {
            let steps = several.iter().zip(&view.frame.steps);
            let values = steps.map(|(planned, state)| {
                let value = state.value.as_deref().cloned();
                (planned.step.id.clone(), value.unwrap_or_default())
            });
            Value::Object(values.collect())
        }
        [only] if only.step.output.is_none() => match view.frame.steps[0].value.as_deref() {
            Some(value) => value.clone(),
            None => Value::Null,
        },
        _ => match view.get("outputs") {
            Lookup::Value(value) => Arc::unwrap_or_clone(value),
            Lookup::Absent | Lookup::Unknown => Value::Null,
        },
    }
}
