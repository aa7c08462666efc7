//! Resumes an ended run or a nested skill: failed steps are tried again, finished steps are kept.
//!
//! Not here: whether a run may be resumed.

use jiff::Timestamp;

use crate::Path;
use crate::machine::{Divergence, Machine, Todo};
use crate::order::Prerequisites;
use crate::progress::misplaced_event;
use crate::state::{Phase, Position, TryState, Verdict};

impl Machine {
    pub(crate) fn apply_resumed(&mut self, now: Timestamp) {
        self.finished = None;
        self.stopped = None;
        self.todo.clear();
        self.leaving.clear();
        self.fresh.clear();
        self.fresh_outputs.clear();
        if self.origin.is_some() {
            self.reset_frame(now, 0);
        }
    }

    /// Resumes a failed nested skill in another try of its step.
    pub(crate) fn continue_nested(
        &mut self,
        now: Timestamp,
        path: &Path,
        attempt: u32,
        until: Option<Timestamp>,
    ) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        let tried = self.current_try(at)?;
        let inner = tried.inner.filter(|_| tried.state == TryState::Ready);
        let frame = match inner {
            Some(frame) if self.frames[frame].left => frame,
            _ => return Err(misplaced_event(path, "was resumed, but had not failed")),
        };
        self.open_item(at)?;
        if !self.state(at).phase.is_open() {
            return Err(misplaced_event(path, "was resumed after it had ended"));
        }
        let tried = self.current_try(at)?;
        tried.attempts = attempt;
        tried.state = TryState::Inside { frame, since: now };
        let heals = tried.heals;
        self.frames[frame].healed_before = heals;
        self.limit(frame, now, until);
        self.reset_frame(now, frame);
        Ok(())
    }

    /// Clears the failures of a frame and of the frames inside its failed steps, so that they are tried
    /// again.
    fn reset_frame(&mut self, now: Timestamp, frame: usize) {
        self.frames[frame].failure = None;
        self.frames[frame].in_doubt = false;
        self.frames[frame].left = false;
        self.frames[frame].stopped = None;
        self.frames[frame].verdict = Verdict::Open;
        self.frames[frame].asked = 0;
        for step in 0..self.frames[frame].steps.len() {
            let item = None;
            let at = Position { frame, step, item };
            match self.state(at).phase {
                // The person is asked again.
                Phase::Refused | Phase::Asking => {
                    if self.state(at).phase == Phase::Asking {
                        self.unpause(now, frame);
                    }
                    let state = self.state(at);
                    state.phase = Phase::Pending;
                    state.answer = None;
                    state.asked = None;
                }
                // A run that was cancelled without a driver ends with steps that are still open.
                Phase::Failed | Phase::Open => self.reset_step(now, at),
                Phase::Pending | Phase::Success | Phase::Error | Phase::Skipped => {}
            }
        }
        self.recount(frame);
        self.leaving.push_back(frame);
    }

    fn reset_step(&mut self, now: Timestamp, at: Position) {
        let state = self.state(at);
        let looped = state.items.is_some();
        state.value = None;
        state.error = None;
        let mut inside = Vec::new();
        for (item, tried) in state.tries.iter_mut().enumerate() {
            match tried.state {
                TryState::Failed(_) => {
                    tried.retries = 0;
                    tried.cut_offs = 0;
                    tried.state = TryState::Ready;
                }
                TryState::Inside { .. } => {}
                TryState::Idle
                | TryState::Ready
                | TryState::Calling { .. }
                | TryState::Healing { .. }
                | TryState::Waiting { .. }
                | TryState::Ended(_)
                | TryState::Skipped => continue,
            }
            let item = looped.then_some(item);
            inside.extend(tried.inner.map(|frame| (Position { item, ..at }, frame)));
        }
        if !looped && inside.is_empty() && state.phase == Phase::Failed {
            state.phase = Phase::Pending;
        } else {
            state.phase = Phase::Open;
        }
        for (at, inner) in inside {
            self.resume_nested(now, at, inner);
        }
        if looped {
            self.reset_loop(at);
        }
    }

    /// Resumes a nested skill where it ended.
    fn resume_nested(&mut self, now: Timestamp, at: Position, frame: usize) {
        let since = self.state(at).started_at.unwrap_or_default();
        if let Ok(tried) = self.current_try(at) {
            tried.state = TryState::Inside { frame, since };
        }
        self.renew(frame, now);
        self.reset_frame(now, frame);
    }

    fn reset_loop(&mut self, at: Position) {
        let state = self.state(at);
        let begun = state.tries.iter().take(state.begun);
        state.going = begun.filter(|tried| !tried.state.has_ended()).count();
        let ready = state.tries.iter().take(state.begun).enumerate();
        let again: Vec<usize> = ready
            .filter(|(_, tried)| tried.state == TryState::Ready)
            .map(|(item, _)| item)
            .collect();
        for item in again {
            let item = Some(item);
            self.todo.push_back(Todo::Item(Position { item, ..at }));
        }
        self.next_items(at);
    }

    /// Counts the ended steps again, and queues every step that may begin.
    fn recount(&mut self, index: usize) {
        let frame = &mut self.frames[index];
        let over: Vec<bool> = frame
            .steps
            .iter()
            .map(|step| step.phase.has_ended())
            .collect();
        frame.leading = over.iter().take_while(|over| **over).count();
        let open = frame.steps.iter().filter(|step| step.phase.is_open());
        frame.open = open.count();
        for (step, planned) in frame.plan.steps.iter().enumerate() {
            if let Prerequisites::For(others) = &planned.waits {
                frame.steps[step].waits = others.iter().filter(|other| !over[**other]).count();
            }
            if frame.steps[step].phase == Phase::Pending {
                self.todo.push_back(Todo::Step { frame: index, step });
            }
        }
    }
}
