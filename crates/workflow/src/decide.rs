//! The decisions of a machine: the next event that follows from its state alone.
//!
//! Conditions, lists and arguments are evaluated here, once. Their values are in the event, so that a replay
//! evaluates nothing.

use std::sync::Arc;

use deft_model::{Effects, Failure, FailureClass};
use deft_template::{EvalError, EvalKind, Template};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::Call;
use crate::event::{Answer, CallIntent, Event, Operation};
use crate::facts::Facts;
use crate::kinds::RenderError;
use crate::machine::{Machine, Todo};
use crate::order::Prerequisites;
use crate::planned::PlannedStep;
use crate::progress::{elapsed_ms, tolerated_value};
use crate::scope::NameScope;
use crate::state::{Phase, Position, Try, TryState};
use crate::value_kind::describe;

impl Machine {
    pub(crate) fn decide(&mut self, now: Timestamp, facts: &dyn Facts) -> Option<Event> {
        while self.finished.is_none() {
            let event = match self.todo.pop_front() {
                Some(Todo::Step { frame, step }) => self.decide_step(now, frame, step, facts),
                Some(Todo::Item(at)) => self.decide_item(now, at, facts),
                Some(Todo::Close { frame, step }) => self.decide_close(now, frame, step),
                // Last, so that a frame ends only when nothing in it can still begin.
                None => {
                    let frame = self.leaving.pop_front()?;
                    self.decide_leave(now, frame)
                }
            };
            if event.is_some() {
                return event;
            }
        }
        None
    }

    fn is_ready(&self, frame: usize, step: usize) -> bool {
        let frame = &self.frames[frame];
        let free = match frame.plan.steps[step].waits {
            Prerequisites::Leading(count) => frame.leading >= count,
            Prerequisites::For(_) => frame.steps[step].waits == 0,
        };
        free && frame.steps[step].phase == Phase::Pending && !frame.left
    }

    fn decide_step(
        &self,
        now: Timestamp,
        frame: usize,
        step: usize,
        facts: &dyn Facts,
    ) -> Option<Event> {
        if self.stopped_in(frame).is_some() || !self.is_ready(frame, step) {
            return None;
        }
        let item = None;
        let at = Position { frame, step, item };
        let planned = &self.frames[frame].plan.steps[step];
        let state = &self.frames[frame].steps[step];
        if state.answer == Some(Answer::Skip) {
            return Some(self.skip(at, "skipped by the person who was asked"));
        }
        if !planned.condition_per_item
            && let Some(event) = self.judge(at, planned, state.judged)
        {
            return Some(event);
        }
        if state.answer.is_none()
            && let Some(event) = self.ask_first(at, planned, facts)
        {
            return Some(event);
        }
        match &planned.list {
            Some(list) => Some(self.list(at, list)),
            None => Some(self.begin(now, at, facts)),
        }
    }

    fn decide_item(&self, now: Timestamp, at: Position, facts: &dyn Facts) -> Option<Event> {
        let frame = &self.frames[at.frame];
        let state = &frame.steps[at.step];
        let item = at.item?;
        let tried = state.tries.get(item)?;
        let may_begin = match tried.state {
            TryState::Idle => item == state.begun && item < state.head + self.width(at),
            TryState::Ready => true,
            TryState::Calling { .. }
            | TryState::Inside { .. }
            | TryState::Healing { .. }
            | TryState::Waiting { .. }
            | TryState::Ended(_)
            | TryState::Failed(_)
            | TryState::Skipped => false,
        };
        if self.stopped_in(at.frame).is_some() || !may_begin || state.phase != Phase::Open {
            return None;
        }
        let planned = &frame.plan.steps[at.step];
        if planned.condition_per_item
            && let Some(event) = self.judge(at, planned, tried.judged)
        {
            return Some(event);
        }
        Some(self.begin(now, at, facts))
    }

    /// Returns the event for a condition that is not true, or that needs the worker.
    fn judge(&self, at: Position, planned: &PlannedStep, judged: Option<bool>) -> Option<Event> {
        let condition = planned.condition.as_ref()?;
        let view = self.view(at.frame, Some(at))?;
        let verdict = match judged {
            Some(verdict) => Ok(verdict),
            None => condition.is_true(&view),
        };
        match verdict {
            Ok(true) => None,
            Ok(false) => {
                let source = condition.source().trim();
                Some(self.skip(at, format!("condition is false: {source}")))
            }
            Err(error) if matches!(error.kind, EvalKind::Unsupported) => {
                Some(self.begin_event(at, Call::Condition, Effects::None))
            }
            Err(error) => Some(self.render_failure_event(at, "condition", &error)),
        }
    }

    pub(crate) fn skip(&self, at: Position, reason: impl Into<String>) -> Event {
        Event::Skipped {
            path: self.path(at),
            reason: reason.into(),
        }
    }

    fn list(&self, at: Position, list: &crate::tree::Tree) -> Event {
        let Some(view) = self.view(at.frame, Some(at)) else {
            return self.skip(at, "the run has not begun");
        };
        let limit = self.rules.max_items;
        match list.render(&view) {
            Ok(Value::Array(items)) if items.len() > limit => {
                let message = format!("the loop has {} items, more than {limit}", items.len());
                let failure = Failure::new(FailureClass::Limit, message)
                    .hint("filter the list first, or work on it in parts");
                self.fail_before_call(at, failure)
            }
            Ok(Value::Array(items)) => self.listing(at, items),
            Ok(Value::Null) => self.listing(at, Vec::new()),
            // The entries of a mapping, in its order.
            Ok(Value::Object(map)) if map.len() <= limit => {
                let entry = |(key, value)| json!({ "key": key, "value": value });
                self.listing(at, map.into_iter().map(entry).collect())
            }
            Ok(Value::Object(map)) => {
                let message = format!("the loop has {} items, more than {limit}", map.len());
                let failure = Failure::new(FailureClass::Limit, message)
                    .hint("filter the list first, or work on it in parts");
                self.fail_before_call(at, failure)
            }
            Ok(other) => {
                let message = format!("`loop` needs a list or a mapping, not {}", describe(&other));
                self.fail_before_call(at, Failure::new(FailureClass::Invalid, message))
            }
            Err(error) => self.render_failure_event(at, "loop", &error),
        }
    }

    fn listing(&self, at: Position, items: Vec<Value>) -> Event {
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        Event::Listed {
            path: self.path(at),
            step_type: step.kind.key().to_owned(),
            items,
        }
    }

    /// Renders the call of a step and returns the intent to make it.
    fn begin(&self, now: Timestamp, at: Position, facts: &dyn Facts) -> Event {
        let frame = &self.frames[at.frame];
        let planned = &frame.plan.steps[at.step];
        if let Some(event) = self.verify(at).or_else(|| self.continue_step(now, at)) {
            return event;
        }
        let Some(view) = self.view(at.frame, Some(at)) else {
            return self.skip(at, "the run has not begun");
        };
        let wait_until = |until: bool, text: &Template| self.wait_until(now, &view, (until, text));
        let call = match planned.work.render(&view, wait_until) {
            Ok(call) => call,
            Err(RenderError::Template(what, error)) => {
                return self.render_failure_event(at, what, &error);
            }
            Err(RenderError::Failed(failure)) => return self.fail_before_call(at, failure),
        };
        let deepest = self.rules.max_depth;
        if let Call::Skill { skill, .. } = &call
            && frame.depth >= deepest
        {
            return self.fail_before_call(at, self.too_deep(at.frame, skill));
        }
        let tool = call.tool();
        if let Some(failure) = tool.and_then(|(tool, args)| self.forbidden(at, tool, args, facts)) {
            return self.fail_before_call(at, failure);
        }
        let effects = planned.effects(frame.plan.effects, tool, facts);
        self.begin_event(at, call, effects)
    }

    /// Returns the event that resumes a nested skill that has begun before. It does not begin again: its
    /// results, inputs and revision are kept.
    fn continue_step(&self, now: Timestamp, at: Position) -> Option<Event> {
        let state = &self.frames[at.frame].steps[at.step];
        let tried = state.tries.get(at.item.unwrap_or(0))?;
        let plan = &self.frames[tried.inner?].plan;
        Some(Event::Continued {
            path: self.path(at),
            attempt: tried.attempts + 1,
            until: self.nested_deadline(at, plan, now),
        })
    }

    /// Returns the failure for a skill that is nested too deeply, with the cycle that led there.
    fn too_deep(&self, frame: usize, skill: &str) -> Failure {
        let mut around = Vec::new();
        let mut next = Some(frame);
        while let Some(frame) = next {
            let frame = &self.frames[frame];
            around.push(frame.plan.skill.as_str());
            next = frame.parent.map(|parent| parent.frame);
        }
        let circle = around.iter().position(|outer| *outer == skill);
        let circle = circle.map(|end| {
            let through = around[..end].iter().rev();
            let through: Vec<String> = through.map(|name| format!("`{name}`")).collect();
            if through.is_empty() {
                format!("; `{skill}` calls itself")
            } else {
                format!("; `{skill}` calls itself through {}", through.join(", "))
            }
        });
        let deepest = self.rules.max_depth;
        let circle = circle.unwrap_or_default();
        let message = format!("skills are nested more than {deepest} levels{circle}");
        Failure::new(FailureClass::Limit, message).hint(
            "remove one of the steps to break the \
             cycle",
        )
    }

    fn begin_event(&self, at: Position, call: Call, effects: Effects) -> Event {
        let tries = &self.frames[at.frame].steps[at.step].tries;
        let attempts = tries.get(at.item.unwrap_or(0)).map_or(0, |t| t.attempts);
        Event::Begun(CallIntent {
            path: self.path(at),
            attempt: attempts + 1,
            call: Arc::new(call),
            effects,
        })
    }

    /// Returns the event for a template or condition that cannot be evaluated, which fails its step.
    pub(crate) fn render_failure_event(
        &self,
        at: Position,
        what: &str,
        error: &EvalError,
    ) -> Event {
        let path = self.path(at);
        let class = match error.kind {
            EvalKind::Limit => FailureClass::Limit,
            EvalKind::Undefined { .. }
            | EvalKind::Type
            | EvalKind::Unsupported
            | EvalKind::Other => FailureClass::Invalid,
        };
        let message = format!("{what} of `{path}`: {}", error.message);
        let mut failure = Failure::new(class, message);
        failure.hint.clone_from(&error.hint);
        self.fail_before_call(at, failure)
    }

    fn decide_close(&self, now: Timestamp, frame: usize, step: usize) -> Option<Event> {
        let state = &self.frames[frame].steps[step];
        let item = None;
        let at = Position { frame, step, item };
        let all = state.begun == state.tries.len();
        let stopped = self.stopped_in(frame);
        let stuck = stopped.is_some() || state.begun >= state.head + self.width(at);
        if state.phase != Phase::Open || state.items.is_none() || state.going > 0 || !(all || stuck)
        {
            return None;
        }
        let failed = state.tries.iter().find_map(Try::final_failure).cloned();
        let failed = failed.map(|failure| count_failures(failure, &state.tries));
        Some(Event::Closed {
            path: self.path(at),
            values: state.tries.iter().map(item_value).collect(),
            error: failed.or_else(|| if all { None } else { stopped.cloned() }),
            ms: state
                .started_at
                .map_or(0, |started| elapsed_ms(started, now)),
        })
    }
}

/// Maximum number of items that a message names.
const MAX_NAMED: usize = 10;

/// Returns the first failure of a loop, with the number of failed items and their indexes.
fn count_failures(failure: Failure, tries: &[Try]) -> Failure {
    let failed = |(at, tried): (usize, &Try)| {
        matches!(tried.state, TryState::Failed(_)).then(|| format!("[{at}]"))
    };
    let failed: Vec<String> = tries.iter().enumerate().filter_map(failed).collect();
    let more = if failed.len() > MAX_NAMED {
        ", …"
    } else {
        ""
    };
    let named = failed[..failed.len().min(MAX_NAMED)].join(", ");
    let (count, all) = (failed.len(), tries.len());
    let items = if all == 1 { "item" } else { "items" };
    Failure {
        message: format!(
            "{count} of {all} {items} failed ({named}{more}): {}",
            failure.message
        ),
        ..failure
    }
}

fn item_value(tried: &Try) -> Value {
    match &tried.state {
        TryState::Ended(Ok(value)) => (**value).clone(),
        TryState::Ended(Err(failure)) | TryState::Failed(failure) => tolerated_value(failure),
        TryState::Idle
        | TryState::Ready
        | TryState::Calling { .. }
        | TryState::Inside { .. }
        | TryState::Healing { .. }
        | TryState::Waiting { .. }
        | TryState::Skipped => Value::Null,
    }
}

/// Returns the operation that a question is about. Arguments that need the loop item are not known yet.
pub(crate) fn operation(planned: &PlannedStep, view: &NameScope<'_>) -> Operation {
    let kind = planned.step.kind.key().to_owned();
    let (name, args) = planned.work.target().unzip();
    // Before a loop its items are unknown, even if a template could be rendered without them.
    let known = |mentions: &dyn Fn(&str) -> bool| !planned.loop_var().is_some_and(mentions);
    let name = name.filter(|name| known(&|var| name.names().iter().any(|used| used.name == var)));
    let args = args.filter(|args| known(&|var| args.mentions(var)));
    Operation {
        kind,
        name: name.and_then(|name| name.render_text(view).ok()),
        args: args.and_then(|args| args.render(view).ok()),
        remember: None,
    }
}
