//! The progress of steps: opening and ending them, and queueing the steps that may begin as a result.
//!
//! Bookkeeping only: which event does what is in `apply.rs` and `follow.rs`.

use std::sync::Arc;

use deft_model::Failure;
use jiff::Timestamp;
use serde_json::Value;

use crate::machine::{Divergence, Machine, Todo};
use crate::state::{Fatal, Frame, Phase, Position, StepState, Try};
use crate::{Path, order};

impl Machine {
    /// Adds a frame and queues its first steps.
    pub(crate) fn push_frame(&mut self, frame: Frame) -> usize {
        let index = self.frames.len();
        if !frame.prefix.is_empty() {
            self.prefixes.insert(frame.prefix.clone(), index);
        }
        let plan = Arc::clone(&frame.plan);
        self.frames.push(frame);
        let free = plan.steps.iter().enumerate().filter(
            |(_, planned)| matches!(&planned.waits, order::Prerequisites::For(others) if others.is_empty()),
        );
        let first = plan.barriers[0].iter().copied();
        for step in first.chain(free.map(|(step, _)| step)) {
            self.todo.push_back(Todo::Step { frame: index, step });
        }
        self.leaving.push_back(index);
        index
    }

    /// Marks a step as begun.
    pub(crate) fn open(&mut self, at: Position) {
        let frame = &mut self.frames[at.frame];
        let state = &mut frame.steps[at.step];
        if state.phase == Phase::Pending {
            state.phase = Phase::Open;
            frame.open += 1;
        }
    }

    /// Marks an item and its step as begun.
    pub(crate) fn open_item(&mut self, at: Position) -> Result<(), Divergence> {
        self.open(at);
        if at.item.is_none() || self.current_try(at)?.is_opened() {
            return Ok(());
        }
        let state = self.state(at);
        state.begun += 1;
        state.going += 1;
        Ok(())
    }

    /// Resets a step to pending and queues it again.
    pub(crate) fn reopen(&mut self, at: Position) -> Result<(), Divergence> {
        let frame = &mut self.frames[at.frame];
        let state = &mut frame.steps[at.step];
        if !state.phase.is_open() {
            let path = self.path(at);
            return Err(misplaced_event(&path, "was reopened, but is not running"));
        }
        state.phase = Phase::Pending;
        frame.open -= 1;
        let (frame, step) = (at.frame, at.step);
        self.todo.push_back(Todo::Step { frame, step });
        Ok(())
    }

    /// Ends a step and queues the steps that waited for it, unless it failed permanently.
    pub(crate) fn end_step(&mut self, at: Position, phase: Phase) -> Result<(), Divergence> {
        let index = at.frame;
        let frame = &mut self.frames[index];
        let state = &mut frame.steps[at.step];
        if !state.phase.is_open() {
            let path = self.path(at);
            return Err(misplaced_event(&path, "ended, but is not running"));
        }
        state.phase = phase;
        frame.open -= 1;
        if frame.open == 0 {
            self.leaving.push_back(index);
        }
        if phase.has_ended() {
            self.set_free(at);
        }
        Ok(())
    }

    fn set_free(&mut self, at: Position) {
        let index = at.frame;
        let frame = &mut self.frames[index];
        for &step in &frame.plan.dependents[at.step] {
            let waits = &mut frame.steps[step].waits;
            *waits = waits.saturating_sub(1);
            if *waits == 0 {
                self.todo.push_back(Todo::Step { frame: index, step });
            }
        }
        let is_over = |state: &StepState| state.phase.has_ended();
        while frame.steps.get(frame.leading).is_some_and(is_over) {
            frame.leading += 1;
            for &step in &frame.plan.barriers[frame.leading] {
                self.todo.push_back(Todo::Step { frame: index, step });
            }
        }
    }

    /// Stores a failure that is not tolerated, if it ranks before the known one.
    pub(crate) fn fail(&mut self, fatal: Fatal) {
        let frame = &mut self.frames[fatal.at.frame];
        frame.in_doubt |= fatal.in_doubt;
        let known = &mut frame.failure;
        if known
            .as_ref()
            .is_none_or(|known| fatal.rank() < known.rank())
        {
            *known = Some(fatal);
        }
    }

    /// Queues the items of a loop that may begin now.
    pub(crate) fn next_items(&mut self, at: Position) {
        let (frame, step) = (at.frame, at.step);
        let width = self.width(at);
        let state = self.state(at);
        let end = state.tries.len().min(state.head + width);
        for item in state.begun..end {
            let item = Some(item);
            self.todo
                .push_back(Todo::Item(Position { frame, step, item }));
        }
        self.todo.push_back(Todo::Close { frame, step });
    }

    /// Returns the maximum number of items of a loop that may be in progress at once.
    pub(crate) fn width(&self, at: Position) -> usize {
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        let width = step.repeat.as_ref().and_then(|repeat| repeat.concurrency);
        width.map_or(1, |width| width.max(1) as usize)
    }

    pub(crate) fn state(&mut self, at: Position) -> &mut StepState {
        &mut self.frames[at.frame].steps[at.step]
    }

    pub(crate) fn current_try(&mut self, at: Position) -> Result<&mut Try, Divergence> {
        let state = self.state(at);
        if at.item.is_none() && state.tries.is_empty() {
            state.tries.push(Try::default());
        }
        if at.item.is_some() != state.items.is_some() {
            return Err(Divergence(
                "a loop began before its items were listed, or a step without items began one"
                    .to_owned(),
            ));
        }
        state.tries.get_mut(at.item.unwrap_or(0)).ok_or_else(|| {
            Divergence("an item was not among the listed items of its loop".to_owned())
        })
    }
}

/// Returns the error for an event that does not fit the state of its step. `what` names the event.
pub(crate) fn misplaced_event(path: &Path, what: &str) -> Divergence {
    Divergence(format!("step `{path}` {what}"))
}

/// Returns the value of a step whose failure is tolerated, in the form that the seeds' detect steps expect.
pub(crate) fn tolerated_value(failure: &Failure) -> Value {
    Value::String(format!("❌ {}", failure.message))
}

/// Returns the milliseconds between two instants, or 0 if the clock went backwards.
pub(crate) fn elapsed_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millisecond() - from.as_millisecond()).unwrap_or(0)
}
