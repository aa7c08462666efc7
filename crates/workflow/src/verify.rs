//! Post-conditions that only the worker can evaluate. A value is kept until the worker has checked it. The
//! verdict is recorded like the end of any call, so that a replay needs no worker.
//!
//! Not here: post-conditions that need no worker (`expect.rs`).

use std::sync::Arc;

use deft_model::{Effects, Failure, FailureClass};
use jiff::Timestamp;
use serde_json::Value;

use crate::Path;
use crate::call::{Call, ExpectLevel};
use crate::code::Code;
use crate::cut_off::MAX_CUT_OFFS;
use crate::event::{CallEnd, CallIntent, Event, Next};
use crate::expect::{ExpectProblem, false_expectation_failure};
use crate::machine::{Ask, Divergence, Machine};
use crate::progress::misplaced_event;
use crate::state::{HeldValue, Position, TryState, Verdict};

/// The end of a try: its value, its failure and what follows.
pub(crate) type TryEnd = (Option<Arc<Value>>, Option<Failure>, Next);

impl Machine {
    /// Returns the value that the worker is checking for a try.
    pub(crate) fn value_in_check(&self, at: Position) -> Option<&Arc<HeldValue>> {
        let state = &self.frames[at.frame].steps[at.step];
        let tried = state.tries.get(at.item.unwrap_or(0))?;
        let asked = matches!(&tried.state, TryState::Calling { call, .. }
            if matches!(**call, Call::Expect { .. }));
        tried.held.as_ref().filter(|_| asked)
    }

    /// Returns the intent to have a kept value checked.
    pub(crate) fn verify(&self, at: Position) -> Option<Event> {
        let state = &self.frames[at.frame].steps[at.step];
        let tried = state.tries.get(at.item.unwrap_or(0))?;
        let of = tried.held.as_ref()?.of;
        Some(Event::Begun(CallIntent {
            path: self.path(at),
            // A check is not another try.
            attempt: tried.attempts,
            call: Arc::new(Call::Expect { of }),
            effects: Effects::None,
        }))
    }

    /// Decides what follows the worker's verdict on a value. An expression that fails to evaluate is not met;
    /// a worker that was cut off has given no verdict.
    pub(crate) fn judge_value(
        &self,
        at: Position,
        held: &HeldValue,
        verdict: Result<Value, Failure>,
        now: Timestamp,
    ) -> TryEnd {
        let plan = &self.frames[at.frame].plan;
        let source = match held.of {
            ExpectLevel::Step => plan.steps[at.step].expect.that(),
            ExpectLevel::Skill => plan.expect.that(),
        };
        let checked = match verdict {
            Ok(Value::Bool(true)) if held.of == ExpectLevel::Step && held.by_agent => {
                self.check_answer(at, &held.value, &held.called)
            }
            Ok(Value::Bool(true)) => Ok(()),
            Ok(_) => Err(false_expectation_failure(source).into()),
            Err(failure) if self.is_cut_off(at.frame, &failure) => {
                let failure = certain(failure);
                let next = self.next(now, at, &failure, false);
                return (None, Some(failure), next);
            }
            Err(failure) => Err(evaluation_failure(source, failure).into()),
        };
        self.decide_checked(at, &held.value, checked, now)
    }

    /// Decides what follows the check of a value.
    pub(crate) fn decide_checked(
        &self,
        at: Position,
        value: &Arc<Value>,
        checked: Result<(), ExpectProblem>,
        now: Timestamp,
    ) -> TryEnd {
        match checked {
            Ok(()) => (Some(Arc::clone(value)), None, Next::Done),
            Err(ExpectProblem::Unsupported(of)) => {
                (Some(Arc::clone(value)), None, Next::Verify { of })
            }
            Err(ExpectProblem::Breach(breach)) => {
                // The call itself was made; the effects of an agent's calls are known.
                let breach = if self.is_agent(at) {
                    breach
                } else {
                    breach.in_doubt()
                };
                let next = self.after_breach(now, at, &breach);
                (None, Some(self.explain_withheld(at, breach)), next)
            }
        }
    }

    fn is_cut_off(&self, frame: usize, failure: &Failure) -> bool {
        let cut_off = matches!(
            failure.class,
            FailureClass::Cancelled | FailureClass::Interrupted
        );
        cut_off || failure.blocked || self.stopped_in(frame).is_some()
    }

    /// Keeps a value until the worker has checked it.
    pub(crate) fn hold(
        &mut self,
        now: Timestamp,
        at: Position,
        of: ExpectLevel,
        ended: &CallEnd,
    ) -> Result<(), Divergence> {
        let value = ended.value.clone().unwrap_or_default();
        let tried = self.current_try(at)?;
        let held = match (&tried.state, &tried.held) {
            (TryState::Calling { .. }, Some(held)) => HeldValue {
                of,
                ms: ended.ms,
                ..HeldValue::clone(held)
            },
            (TryState::Calling { call, effects, .. }, None) => {
                let tool = call.tool().map(|(tool, _)| tool.to_owned());
                HeldValue {
                    of,
                    value,
                    called: tool.into_iter().chain(ended.called.clone()).collect(),
                    effects: *effects,
                    by_agent: matches!(**call, Call::Agent { .. }),
                    cached: ended.cached,
                    ms: ended.ms,
                }
            }
            // The steps of a nested skill must not be repeated, and their tools are noted already.
            (TryState::Inside { .. }, _) => HeldValue {
                of,
                value,
                called: Vec::new(),
                effects: Effects::Once,
                by_agent: false,
                cached: false,
                ms: ended.ms,
            },
            (
                TryState::Idle
                | TryState::Ready
                | TryState::Healing { .. }
                | TryState::Waiting { .. }
                | TryState::Ended(_)
                | TryState::Failed(_)
                | TryState::Skipped,
                _,
            ) => {
                return Err(misplaced_event(
                    &ended.path,
                    "ended a call whose result cannot be checked",
                ));
            }
        };
        tried.held = Some(Arc::new(held));
        self.retry_step(now, at)
    }

    /// Returns the code with which the worker checks a value.
    pub(crate) fn expect_code(
        &self,
        at: Position,
        of: ExpectLevel,
        held: &HeldValue,
        now: Timestamp,
    ) -> Option<Code> {
        let plan = &self.frames[at.frame].plan;
        let (source, scope) = match of {
            ExpectLevel::Step => (
                plan.steps[at.step].expect.that(),
                self.step_scope(at, &held.value)?,
            ),
            ExpectLevel::Skill => (plan.expect.that(), self.answer_scope(at, &held.value)?),
        };
        Some(scope.code(source, now))
    }
}

/// Checks of the outputs of skills.
impl Machine {
    /// Returns the frame whose outputs the path stands for.
    pub(crate) fn frame_of(&self, path: &Path) -> Option<usize> {
        if !path.is_outputs() {
            return None;
        }
        match path.parts().0 {
            "" => (!self.frames.is_empty()).then_some(0),
            prefix => self.prefixes.get(prefix).copied(),
        }
    }

    /// Returns the intent to have the outputs of a frame checked.
    pub(crate) fn verify_outputs(&self, index: usize) -> Event {
        let frame = &self.frames[index];
        Event::Begun(CallIntent {
            path: Path::of_outputs(&frame.prefix),
            attempt: frame.asked + 1,
            call: Arc::new(Call::Expect {
                of: ExpectLevel::Skill,
            }),
            effects: Effects::None,
        })
    }

    /// Returns the event for the worker's verdict on the outputs of a frame.
    pub(crate) fn judge_outputs(
        &self,
        index: usize,
        attempt: u32,
        verdict: Result<Value, Failure>,
        now: Timestamp,
        ms: u64,
    ) -> Event {
        let frame = &self.frames[index];
        let source = frame.plan.expect.that();
        let (error, next) = match verdict {
            Ok(Value::Bool(true)) => (None, Next::Done),
            Ok(_) => (Some(false_expectation_failure(source)), Next::Fail),
            Err(failure) if self.is_cut_off(index, &failure) => {
                let again = failure.class == FailureClass::Interrupted && attempt <= MAX_CUT_OFFS;
                let next = if again {
                    Next::Retry { at: now }
                } else {
                    Next::Fail
                };
                (Some(certain(failure)), next)
            }
            Err(failure) => (Some(evaluation_failure(source, failure)), Next::Fail),
        };
        Event::Ended(CallEnd {
            path: Path::of_outputs(&frame.prefix),
            attempt,
            value: None,
            error,
            next,
            cached: false,
            called: Vec::new(),
            ms,
        })
    }

    pub(crate) fn outputs_begun(
        &mut self,
        now: Timestamp,
        index: usize,
        begun: &CallIntent,
    ) -> Result<(), Divergence> {
        let frame = &mut self.frames[index];
        if frame.verdict != Verdict::Open || frame.left {
            let what = format!("the check of `{}` began twice", begun.path);
            return Err(Divergence(what));
        }
        frame.verdict = Verdict::Asked { at: now };
        frame.asked = begun.attempt;
        self.fresh_outputs.push(index);
        Ok(())
    }

    pub(crate) fn outputs_ended(
        &mut self,
        index: usize,
        ended: &CallEnd,
    ) -> Result<(), Divergence> {
        let frame = &mut self.frames[index];
        let asked = matches!(frame.verdict, Verdict::Asked { .. });
        if !asked || frame.asked != ended.attempt {
            let what = format!("the check of `{}` ended without having begun", ended.path);
            return Err(Divergence(what));
        }
        frame.verdict = match (&ended.error, &ended.next) {
            (None, _) => Verdict::Met,
            (Some(_), Next::Retry { .. }) => Verdict::Open,
            (Some(failure), _) => Verdict::Unmet(failure.clone()),
        };
        self.leaving.push_back(index);
        Ok(())
    }

    pub(crate) fn output_ask(&self, index: usize) -> Option<Ask> {
        let frame = &self.frames[index];
        if !matches!(frame.verdict, Verdict::Asked { .. }) || frame.left {
            return None;
        }
        let path = Path::of_outputs(&frame.prefix);
        Some(Ask::Call {
            key: self.key(&path),
            path,
            attempt: frame.asked,
            call: Arc::new(Call::Expect {
                of: ExpectLevel::Skill,
            }),
            effects: Effects::None,
            timeout: None,
            cache: None,
        })
    }

    pub(crate) fn output_code(&self, index: usize) -> Option<Code> {
        let frame = &self.frames[index];
        let Verdict::Asked { at } = frame.verdict else {
            return None;
        };
        let outputs = self.render_outputs(index).ok()?;
        let source = frame.plan.expect.that();
        Some(self.output_scope(index, &outputs)?.code(source, at))
    }
}

/// Clears the doubt of a failure. A check has no effects, so it leaves nothing in doubt.
fn certain(mut failure: Failure) -> Failure {
    failure.in_doubt = false;
    failure
}

/// Returns the failure for an expression that could not be evaluated.
fn evaluation_failure(source: &str, failure: Failure) -> Failure {
    let message = format!("expected `{source}`: {}", failure.message);
    Failure {
        hint: failure.hint,
        ..Failure::new(FailureClass::Invalid, message)
    }
}
