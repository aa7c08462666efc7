//! The decision after the end of a call: done, retried, healed, tolerated or fatal.
//!
//! The decision is made once and recorded in the event; `follow.rs` carries it out.

use std::sync::Arc;
use std::time::Duration;

use deft_model::{Effects, Failure, FailureClass, OnError, Step, scatter};
use jiff::Timestamp;
use serde_json::Value;

use crate::Path;
use crate::call::Call;
use crate::cut_off::{MAX_CUT_OFFS, unjudged_failure};
use crate::event::{CallEnd, Event, Heal, Next};
use crate::machine::Machine;
use crate::planned::Remedy;
use crate::progress::elapsed_ms;
use crate::size::size;
use crate::state::{Position, TryState};

/// Delay before the first retry; it doubles with each retry, up to [`MAX_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_mins(1);

impl Machine {
    /// Returns the event for the result of a call, with the decision what follows. The caller stores and
    /// applies it.
    pub fn end_call(
        &self,
        path: &Path,
        attempt: u32,
        result: Result<Value, Failure>,
        now: Timestamp,
        ms: u64,
        cached: bool,
    ) -> Event {
        self.end_with(path, attempt, result, now, (ms, cached), Vec::new())
    }

    /// Returns the event for the result of an agent that called the tools in `called` successfully.
    pub fn end_agent(
        &self,
        path: &Path,
        attempt: u32,
        result: Result<Value, Failure>,
        now: Timestamp,
        ms: u64,
        called: Vec<String>,
    ) -> Event {
        self.end_with(path, attempt, result, now, (ms, false), called)
    }

    fn end_with(
        &self,
        path: &Path,
        attempt: u32,
        result: Result<Value, Failure>,
        now: Timestamp,
        (ms, cached): (u64, bool),
        called: Vec<String>,
    ) -> Event {
        let at = self.locate(path).ok();
        let outputs = self.frame_of(path);
        let frame = at.map(|at| at.frame).or(outputs);
        let result = result.map_err(|failure| self.replace_cancellation(frame, failure));
        if let Some(frame) = outputs {
            return self.judge_outputs(frame, attempt, result, now, ms);
        }
        let judging = at.is_some_and(|at| self.is_judging(at));
        let held = at.and_then(|at| self.value_in_check(at));
        let (called, cached, ms) = match held {
            Some(held) => (held.called.clone(), held.cached, held.ms + ms),
            None => (called, cached, ms),
        };
        let (value, error, next) = match (result, at) {
            (Ok(value), _) if judging => (Some(Arc::new(value)), None, Next::Judged),
            (result, Some(at)) if let Some(held) = held => self.judge_value(at, held, result, now),
            (Ok(value), Some(at)) => match self.check_room(at, &value) {
                Err(full) => {
                    let step = &self.frames[at.frame].plan.steps[at.step].step;
                    (None, Some(full), give_up(step, Next::Fail))
                }
                Ok(()) => {
                    let value = Arc::new(value);
                    let checked = self.check_step(at, &value, &called);
                    self.decide_checked(at, &value, checked, now)
                }
            },
            (Ok(value), None) => (Some(Arc::new(value)), None, Next::Done),
            (Err(failure), Some(at)) => {
                let next = self.next(now, at, &failure, true);
                let failure = self.explain_withheld(at, failure);
                (None, Some(failure), next)
            }
            (Err(failure), None) => (None, Some(failure), Next::Fail),
        };
        let whole = at.filter(|at| at.item.is_none() && next.is_last());
        let started = whole.and_then(|at| self.frames[at.frame].steps[at.step].started_at);
        let ms = started.map_or(ms, |started| elapsed_ms(started, now));
        Event::Ended(CallEnd {
            path: path.clone(),
            attempt,
            value,
            error,
            next,
            cached,
            called,
            ms,
        })
    }

    /// Adds a hint on how to allow a repeated call, if a retry or a heal is withheld because the effects of
    /// the call are unknown.
    pub(crate) fn explain_withheld(&self, at: Position, failure: Failure) -> Failure {
        let frame = &self.frames[at.frame];
        let planned = &frame.plan.steps[at.step];
        let is_declared = planned.step.effects.or(frame.plan.effects).is_some();
        let Some((tool, effects)) = self.tool_called(at) else {
            return failure;
        };
        let repeats = matches!(planned.step.on_error, OnError::Retry(_))
            || self.find_heal(at, &failure).is_some();
        let stopped = self.stopped_in(at.frame).is_some();
        if is_declared || effects != Effects::Once || !failure.in_doubt || !repeats || stopped {
            return failure;
        }
        let why = format!(
            "not retried, because `{tool}` may have taken effect; if repeating it is harmless, set \
             `effects: idempotent` in the step"
        );
        let hint = match &failure.hint {
            Some(hint) => format!("{hint}; {why}"),
            None => why,
        };
        failure.hint(hint)
    }

    /// Returns the tool that a try called and its effects, also while its result is checked.
    fn tool_called(&self, at: Position) -> Option<(&str, Effects)> {
        let planned = &self.frames[at.frame].plan.steps[at.step];
        planned.work.tool()?;
        if let Some(held) = self.value_in_check(at) {
            return Some((held.called.first()?, held.effects));
        }
        let TryState::Calling { call, effects, .. } = self.try_state(at)? else {
            return None;
        };
        call.tool().map(|(tool, _)| (tool, *effects))
    }

    /// Returns the event for a call that could not be made and is made later instead of failing. This does
    /// not use up a retry.
    pub fn postpone_call(
        &self,
        path: &Path,
        attempt: u32,
        failure: Failure,
        until: Timestamp,
    ) -> Event {
        Event::Ended(CallEnd {
            path: path.clone(),
            attempt,
            value: None,
            error: Some(failure),
            next: Next::Postponed { at: until },
            cached: false,
            called: Vec::new(),
            ms: 0,
        })
    }

    /// Checks that a result fits into the limit for all results of the run, which are kept in memory and in
    /// the journal.
    fn check_room(&self, at: Position, value: &Value) -> Result<(), Failure> {
        let limit = self.rules.max_results;
        let all = self.results.saturating_add(size(value));
        if all <= limit {
            return Ok(());
        }
        let path = self.path(at);
        let message = format!(
            "the result of `{path}` brings the results of the run to {all} bytes; the limit is \
             {limit}"
        );
        let failure = Failure::new(FailureClass::Limit, message)
            .hint("return less from tools, or split the work into several runs");
        // The call itself was made.
        Err(failure.in_doubt())
    }

    fn is_judging(&self, at: Position) -> bool {
        matches!(self.try_state(at), Some(TryState::Calling { call, .. })
            if matches!(**call, Call::Condition))
    }

    /// Whether an agent runs the try at `at`.
    pub(crate) fn is_agent(&self, at: Position) -> bool {
        let held = self.value_in_check(at).is_some_and(|held| held.by_agent);
        held || matches!(self.try_state(at), Some(TryState::Calling { call, .. })
            if matches!(**call, Call::Agent { .. }))
    }

    pub(crate) fn try_state(&self, at: Position) -> Option<&TryState> {
        let tries = &self.frames[at.frame].steps[at.step].tries;
        tries.get(at.item.unwrap_or(0)).map(|tried| &tried.state)
    }

    /// Returns the event for a step that failed before anything was called. A template that cannot be
    /// evaluated now cannot be evaluated later either, so the step is neither healed nor retried.
    pub(crate) fn fail_before_call(&self, at: Position, failure: Failure) -> Event {
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        Event::Ended(CallEnd {
            path: self.path(at),
            attempt: 0,
            value: None,
            error: Some(failure),
            next: give_up(step, Next::Fail),
            cached: false,
            called: Vec::new(),
            ms: 0,
        })
    }

    /// Returns the event for a call or a heal whose driver died.
    pub fn interruption_event(&self, path: &Path, attempt: u32, now: Timestamp) -> Event {
        let message = format!("`{path}` was interrupted and may have taken effect");
        let failure = Failure::new(FailureClass::Interrupted, message)
            .hint("check whether it took effect; `deft runs resume` retries it")
            .in_doubt();
        let at = self.locate(path).ok();
        let failure = match at.and_then(|at| self.value_in_check(at)) {
            None if !path.is_outputs() => failure,
            _ => unjudged_failure(path),
        };
        match at.and_then(|at| self.try_state(at)) {
            Some(TryState::Healing { .. }) => self.heal_event(path, Err(failure), now, 0),
            _ => self.end_call(path, attempt, Err(failure), now, 0, false),
        }
    }

    /// Returns the event for the result of a heal.
    pub fn heal_event(
        &self,
        path: &Path,
        result: Result<(), Failure>,
        now: Timestamp,
        ms: u64,
    ) -> Event {
        let error = result.err();
        // It is unknown whether a heal that was cut off helped; the next try of the step shows it.
        let may_have_helped = error
            .as_ref()
            .is_none_or(|error| error.class == FailureClass::Interrupted);
        let at = self.locate(path).ok();
        let next = match at.map(|at| (at, self.try_state(at))) {
            Some((at, Some(TryState::Healing { failure, .. }))) => {
                if may_have_helped && self.stopped_in(at.frame).is_none() {
                    Next::Retry { at: now }
                } else {
                    self.next(now, at, failure, false)
                }
            }
            _ => Next::Fail,
        };
        Event::Healed {
            path: path.clone(),
            error,
            next,
            ms,
        }
    }

    /// Decides what follows a result that breaks a post-condition. The call was made, so it is not repeated
    /// if its effects are `once`; otherwise a heal or a retry may give another result. An agent repeats
    /// nothing: it continues and is told what was missing.
    pub(crate) fn after_breach(&self, now: Timestamp, at: Position, breach: &Failure) -> Next {
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        if self.stopped_in(at.frame).is_some() {
            return Next::Fail;
        }
        let held = self.value_in_check(at).map(|held| held.effects);
        let effects = held.unwrap_or_else(|| self.effects_of(at));
        if effects == Effects::Once && !self.is_agent(at) {
            return give_up(step, Next::Fail);
        }
        let heal = self.find_heal(at, breach);
        let again = heal.map(|heal| Next::Heal(Arc::new(heal)));
        // An agent that is told what was missing has nothing to wait for.
        let at_once = |retry| {
            if matches!(retry, Next::Retry { .. }) && self.is_agent(at) {
                Next::Retry { at: now }
            } else {
                retry
            }
        };
        again
            .or_else(|| self.retry(now, at).map(at_once))
            .unwrap_or_else(|| give_up(step, Next::Fail))
    }

    /// Returns what repeating the call of a try would do.
    fn effects_of(&self, at: Position) -> Effects {
        match self.try_state(at) {
            Some(TryState::Calling { effects, .. }) => *effects,
            // The steps inside were decided already: a call that is still in doubt must not be repeated.
            Some(TryState::Inside { .. }) => Effects::Once,
            _ => Effects::None,
        }
    }

    /// Returns another try, if `retry:N` leaves one.
    fn retry(&self, now: Timestamp, at: Position) -> Option<Next> {
        let frame = &self.frames[at.frame];
        let tried = frame.steps[at.step].tries.get(at.item.unwrap_or(0));
        let made = tried.map_or(0, |tried| tried.retries);
        match frame.plan.steps[at.step].step.on_error {
            OnError::Retry(times) if times > made => {
                let wait = backoff(&self.path(at), made);
                let at = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
                Some(Next::Retry { at })
            }
            OnError::Retry(_) | OnError::Fail | OnError::Continue => None,
        }
    }

    pub(crate) fn next(
        &self,
        now: Timestamp,
        at: Position,
        failure: &Failure,
        may_heal: bool,
    ) -> Next {
        // A failure of a stopped step is not tolerated either.
        if self.stopped_in(at.frame).is_some() || failure.class == FailureClass::Cancelled {
            return Next::Fail;
        }
        let frame = &self.frames[at.frame];
        let step = &frame.plan.steps[at.step].step;
        let tried = frame.steps[at.step].tries.get(at.item.unwrap_or(0));
        let effects = self.effects_of(at);
        let cut_off = failure.class == FailureClass::Interrupted;
        if cut_off && effects != Effects::Once {
            return match tried.map_or(0, |tried| tried.cut_offs) {
                0..MAX_CUT_OFFS => Next::Retry { at: now },
                _ => give_up(step, Next::Interrupt),
            };
        }
        let heal = may_heal.then(|| self.find_heal(at, failure)).flatten();
        let repeats = cut_off || heal.is_some() || matches!(step.on_error, OnError::Retry(_));
        if repeats && failure.in_doubt && effects == Effects::Once {
            return give_up(step, Next::Interrupt);
        }
        if let Some(heal) = heal {
            return Next::Heal(Arc::new(heal));
        }
        if may_be_retried(failure.class)
            && let Some(retry) = self.retry(now, at)
        {
            return retry;
        }
        let end = match (failure.blocked, cut_off) {
            (true, _) => Next::Block,
            (false, true) => Next::Interrupt,
            (false, false) => Next::Fail,
        };
        give_up(step, end)
    }

    /// Returns the first matching heal rule, of the step, the skill or the host, with its arguments rendered.
    fn find_heal(&self, at: Position, failure: &Failure) -> Option<Heal> {
        let frame = &self.frames[at.frame];
        let planned = &frame.plan.steps[at.step];
        let answers = |remedy: &&Remedy| remedy.when.contains(&failure.class);
        let all = planned.heals.iter().chain(&frame.plan.heals);
        let remedy = all.chain(&self.rules.heals).find(answers)?;
        if !self.may_heal(at) {
            return None;
        }
        let view = self.view(at.frame, Some(at))?;
        let tried = frame.steps[at.step].tries.get(at.item.unwrap_or(0));
        Some(Heal {
            ordinal: tried.map_or(0, |tried| tried.heals) + 1,
            class: failure.class,
            tool: remedy.tool.clone(),
            // A heal rule whose arguments cannot be rendered is not applied.
            args: remedy.args.render_object(&view).ok()?,
        })
    }

    /// Whether `max_heals` of the step and of the skills around it allows one more heal.
    ///
    /// Counts the heals of everything that has certainly ended before this try, so that parallel steps do not
    /// use up each other's heals, whichever fails first.
    fn may_heal(&self, at: Position) -> bool {
        let planned = &self.frames[at.frame].plan.steps[at.step];
        let mut taken = self.heals_of(at);
        if planned.step.max_heals.is_some_and(|most| taken >= most) {
            return false;
        }
        let mut here = at;
        loop {
            let frame = &self.frames[here.frame];
            taken += self.heals_before(here);
            if taken >= frame.plan.max_heals {
                return false;
            }
            let Some(parent) = frame.parent else {
                return true;
            };
            taken += frame.healed_before + self.heals_of_earlier_items(parent);
            here = parent;
        }
    }

    /// Counts the heals of the steps that the step at `at` waits for.
    fn heals_before(&self, at: Position) -> u32 {
        let frame = &self.frames[at.frame];
        let visible = &frame.plan.steps[at.step].visible;
        let steps = frame.steps.iter().enumerate();
        let before = steps.filter(|(step, _)| visible.contains(*step));
        let tries = before.flat_map(|(_, state)| &state.tries);
        tries.map(|tried| tried.heals_inside).sum()
    }

    fn heals_of_earlier_items(&self, at: Position) -> u32 {
        let end = at
            .item
            .map_or(0, |item| (item + 1).saturating_sub(self.width(at)));
        let tries = &self.frames[at.frame].steps[at.step].tries;
        tries.iter().take(end).map(|tried| tried.heals_inside).sum()
    }

    /// Counts the heals of a try and of the items that it waits for.
    fn heals_of(&self, at: Position) -> u32 {
        let tries = &self.frames[at.frame].steps[at.step].tries;
        let own = tries.get(at.item.unwrap_or(0));
        own.map_or(0, |tried| tried.heals_inside) + self.heals_of_earlier_items(at)
    }
}

/// Returns `end`, unless the step tolerates failures.
fn give_up(step: &Step, end: Next) -> Next {
    match step.on_error {
        OnError::Continue => Next::Tolerate,
        OnError::Fail | OnError::Retry(_) => end,
    }
}

/// Whether a retry may succeed. A call that is itself wrong stays wrong.
fn may_be_retried(class: FailureClass) -> bool {
    !matches!(
        class,
        FailureClass::Invalid
            | FailureClass::Limit
            | FailureClass::Cancelled
            | FailureClass::Budget
    )
}

/// Returns the delay before a retry. A hash spreads the delays, so that many runs do not retry at once and a
/// replay waits as long as the first time.
fn backoff(path: &Path, retries_made: u32) -> Duration {
    let whole = FIRST_WAIT
        .saturating_mul(1_u32.checked_shl(retries_made).unwrap_or(u32::MAX))
        .min(MAX_WAIT);
    let hash = scatter(path.as_str().bytes().chain(retries_made.to_le_bytes()));
    let spread = u32::try_from(hash >> 32 & 0xff).unwrap_or(0);
    whole * 3 / 4 + whole * spread / 512
}
