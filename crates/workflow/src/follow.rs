//! Applies the beginning and the end of calls, and what follows: a retry, a heal, the end of a step.
//!
//! The decision is made in `call_end.rs` and is part of the event; this file only applies it.

use std::sync::Arc;

use deft_model::{Effects, Failure, FailureClass};
use jiff::Timestamp;
use serde_json::Value;

use crate::Path;
use crate::call::Call;
use crate::event::{CallEnd, CallIntent, Heal, Next};
use crate::machine::{Divergence, Machine, Todo};
use crate::progress::{elapsed_ms, misplaced_event, tolerated_value};
use crate::size::size;
use crate::state::{Fatal, FatalKind, Phase, Position, TryState};

impl Machine {
    pub(crate) fn begin_call(
        &mut self,
        now: Timestamp,
        begun: &CallIntent,
    ) -> Result<(), Divergence> {
        let at = self.locate(&begun.path)?;
        let judging = matches!(*begun.call, Call::Condition);
        let verifying = matches!(*begun.call, Call::Expect { .. });
        if verifying != self.current_try(at)?.held.is_some() {
            return Err(misplaced_event(
                &begun.path,
                "began a check without a result, or a call before its result was checked",
            ));
        }
        if !matches!(
            self.current_try(at)?.state,
            TryState::Idle | TryState::Ready
        ) {
            return Err(misplaced_event(
                &begun.path,
                "began a call while another one was in flight",
            ));
        }
        self.open_item(at)?;
        let state = self.state(at);
        if !state.phase.is_open() {
            return Err(misplaced_event(
                &begun.path,
                "began a call after it had ended",
            ));
        }
        state.started_at.get_or_insert(now);
        if !judging && at.item.is_none() {
            state.judged = Some(true);
        }
        let tried = self.current_try(at)?;
        if !judging {
            tried.judged = Some(true);
        }
        if !verifying {
            tried.inner = None;
        }
        tried.attempts = begun.attempt;
        tried.state = TryState::Calling {
            call: Arc::clone(&begun.call),
            effects: begun.effects,
            at: now,
        };
        self.fresh.push(at);
        if begun.call.waits_until().is_some() {
            self.pause(now, at.frame);
        }
        Ok(())
    }

    pub(crate) fn apply_call_end(
        &mut self,
        now: Timestamp,
        ended: &CallEnd,
    ) -> Result<(), Divergence> {
        let at = self.locate(&ended.path)?;
        if ended.attempt == 0 {
            self.open_item(at)?;
            self.state(at).started_at.get_or_insert(now);
        }
        if self.is_wait(at) {
            self.unpause(now, at.frame);
        }
        let tried = self.current_try(at)?;
        let fits = match &tried.state {
            TryState::Calling { .. } | TryState::Inside { .. } => tried.attempts == ended.attempt,
            TryState::Idle | TryState::Ready => ended.attempt == 0,
            TryState::Healing { .. }
            | TryState::Waiting { .. }
            | TryState::Ended(_)
            | TryState::Failed(_)
            | TryState::Skipped => false,
        };
        if !fits {
            return Err(misplaced_event(
                &ended.path,
                "ended a call that had not begun",
            ));
        }
        if ended.error.is_some() {
            tried.failure.clone_from(&ended.error);
        }
        if let TryState::Inside { frame, .. } = tried.state {
            self.frames[frame].left = true;
            self.timed.retain(|timed| *timed != frame);
        }
        if at.item.is_none() && ended.next.is_last() {
            self.state(at).ms = ended.ms;
        }
        match (&ended.error, &ended.next) {
            (Some(failure), next) => {
                self.follow(now, at, failure, ended.attempt, next)?;
                // A value that breaks a post-condition is dropped; one that was not checked is kept.
                if failure.class == FailureClass::Invalid {
                    self.current_try(at)?.held = None;
                }
                Ok(())
            }
            (None, Next::Verify { of }) => self.hold(now, at, *of, ended),
            (None, Next::Judged) => self.apply_verdict(now, at, ended.value.as_deref()),
            (None, _) => {
                self.note_called(at, &ended.called);
                let value = ended.value.clone().unwrap_or_default();
                self.results = self.results.saturating_add(size(&value));
                let tried = self.current_try(at)?;
                tried.held = None;
                tried.state = TryState::Ended(Ok(value));
                self.try_over(now, at)
            }
        }
    }

    /// Stores the names of tools that were called successfully, for `expect: {called: …}`.
    fn note_called(&mut self, at: Position, by_model: &[String]) {
        let call = match self.try_state(at) {
            Some(TryState::Calling { call, .. }) => Some(Arc::clone(call)),
            _ => None,
        };
        let tool = call.as_deref().and_then(|call| call.summary().tool);
        for tool in tool.into_iter().chain(by_model.iter().map(String::as_str)) {
            self.note_tool(at.frame, tool);
        }
    }

    /// Notes a successful call of `tool` in a frame and in the frames around it.
    pub(crate) fn note_tool(&mut self, frame: usize, tool: &str) {
        let mut next = Some(frame);
        while let Some(frame) = next {
            let frame = &mut self.frames[frame];
            if !frame.called.contains(tool) {
                frame.called.insert(tool.to_owned());
            }
            next = frame.parent.map(|parent| parent.frame);
        }
    }

    /// Applies the worker's verdict on the condition of a step or an item.
    fn apply_verdict(
        &mut self,
        now: Timestamp,
        at: Position,
        value: Option<&Value>,
    ) -> Result<(), Divergence> {
        let verdict = Some(value == Some(&Value::Bool(true)));
        let tried = self.current_try(at)?;
        tried.attempts = 0;
        tried.retries = 0;
        if at.item.is_none() {
            self.state(at).judged = verdict;
        } else {
            tried.judged = verdict;
        }
        self.retry_step(now, at)
    }

    /// Begins a try again. A step starts over with its condition and its question, whose results are kept; an
    /// item of a loop begins at once, or fails if the run is stopped.
    pub(crate) fn retry_step(&mut self, now: Timestamp, at: Position) -> Result<(), Divergence> {
        self.current_try(at)?.state = TryState::Ready;
        if at.item.is_none() {
            return self.reopen(at);
        }
        if let Some(failure) = self.stopped_in(at.frame).cloned() {
            return self.fail_try(now, at, &failure, FatalKind::Error);
        }
        self.todo.push_back(Todo::Item(at));
        Ok(())
    }

    /// Applies the recorded decision about a failure.
    fn follow(
        &mut self,
        now: Timestamp,
        at: Position,
        failure: &Failure,
        attempt: u32,
        next: &Next,
    ) -> Result<(), Divergence> {
        match next {
            Next::Done | Next::Judged | Next::Verify { .. } | Next::Tolerate => {
                self.current_try(at)?.state = TryState::Ended(Err(failure.clone()));
                self.try_over(now, at)
            }
            Next::Retry { at: until } => {
                let tried = self.current_try(at)?;
                if failure.class == FailureClass::Interrupted {
                    tried.cut_offs += 1;
                } else {
                    tried.retries += 1;
                }
                self.wait(now, at, *until)
            }
            Next::Postponed { at: until } => self.wait(now, at, *until),
            Next::Heal(heal) => self.heal(at, failure, attempt, heal),
            Next::Interrupt => self.fail_try(now, at, failure, FatalKind::Interrupted),
            Next::Block => self.fail_try(now, at, failure, FatalKind::Blocked),
            Next::Fail if failure.class == FailureClass::Cancelled => {
                self.fail_try(now, at, failure, FatalKind::Declined)
            }
            Next::Fail => self.fail_try(now, at, failure, FatalKind::Error),
        }
    }

    fn heal(
        &mut self,
        at: Position,
        failure: &Failure,
        attempt: u32,
        heal: &Arc<Heal>,
    ) -> Result<(), Divergence> {
        let tried = self.current_try(at)?;
        tried.heals = heal.ordinal;
        tried.state = TryState::Healing {
            heal: Arc::clone(heal),
            failure: failure.clone(),
            attempt,
        };
        let mut outer = Some(at);
        while let Some(at) = outer {
            self.current_try(at)?.heals_inside += 1;
            outer = self.frames[at.frame].parent;
        }
        self.fresh.push(at);
        Ok(())
    }

    fn wait(&mut self, now: Timestamp, at: Position, until: Timestamp) -> Result<(), Divergence> {
        if until <= now {
            return self.retry_step(now, at);
        }
        self.current_try(at)?.state = TryState::Waiting { until };
        self.fresh.push(at);
        Ok(())
    }

    pub(crate) fn apply_healed(
        &mut self,
        now: Timestamp,
        path: &Path,
        error: Option<&Failure>,
        next: &Next,
    ) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        let TryState::Healing {
            failure, attempt, ..
        } = &self.current_try(at)?.state
        else {
            return Err(misplaced_event(path, "ended a heal that had not begun"));
        };
        let (failure, attempt) = (failure.clone(), *attempt);
        let may_have_helped = error.is_none_or(|error| error.class == FailureClass::Interrupted);
        // A try after a heal does not count against `retry:N`.
        if let Next::Retry { at: until } = next
            && may_have_helped
        {
            return self.wait(now, at, *until);
        }
        self.follow(now, at, &failure, attempt, next)
    }

    pub(crate) fn apply_woken(&mut self, now: Timestamp, path: &Path) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        if !matches!(self.current_try(at)?.state, TryState::Waiting { .. }) {
            return Err(misplaced_event(path, "ended a wait that had not begun"));
        }
        self.retry_step(now, at)
    }

    /// Ends a try with a failure that is not tolerated.
    pub(crate) fn fail_try(
        &mut self,
        now: Timestamp,
        at: Position,
        failure: &Failure,
        kind: FatalKind,
    ) -> Result<(), Divergence> {
        let tried = self.current_try(at)?;
        let harmless = match (&tried.state, &tried.held) {
            (TryState::Calling { .. }, Some(held)) => held.effects != Effects::Once,
            (TryState::Calling { effects, .. }, None) => *effects != Effects::Once,
            (
                TryState::Idle
                | TryState::Ready
                | TryState::Inside { .. }
                | TryState::Healing { .. }
                | TryState::Waiting { .. }
                | TryState::Ended(_)
                | TryState::Failed(_)
                | TryState::Skipped,
                _,
            ) => false,
        };
        tried.state = TryState::Failed(failure.clone());
        self.fail(Fatal {
            at,
            failure: failure.clone(),
            kind,
            in_doubt: failure.in_doubt && !harmless,
        });
        self.try_over(now, at)
    }

    /// Ends a step or item after its last try.
    fn try_over(&mut self, now: Timestamp, at: Position) -> Result<(), Divergence> {
        if at.item.is_some() {
            return self.item_over(at);
        }
        let state = self.state(at);
        let (value, error, phase) = match state.tries.first().map(|tried| &tried.state) {
            Some(TryState::Ended(Ok(value))) => (Arc::clone(value), None, Phase::Success),
            Some(TryState::Ended(Err(failure))) => (
                Arc::new(tolerated_value(failure)),
                Some(failure),
                Phase::Error,
            ),
            Some(TryState::Failed(failure)) => (
                Arc::new(tolerated_value(failure)),
                Some(failure),
                Phase::Failed,
            ),
            _ => return Ok(()),
        };
        state.error = error.cloned();
        state.value = Some(value);
        // The event that ends a step has its duration; a stopped step ends without an event.
        if let (0, Some(started)) = (state.ms, state.started_at) {
            state.ms = elapsed_ms(started, now);
        }
        self.end_step(at, phase)
    }

    pub(crate) fn item_over(&mut self, at: Position) -> Result<(), Divergence> {
        let state = self.state(at);
        state.going = state
            .going
            .checked_sub(1)
            .ok_or_else(|| Divergence("a loop ended an item that had not begun".to_owned()))?;
        state.advance_head();
        self.next_items(at);
        Ok(())
    }
}
