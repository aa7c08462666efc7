//! Deadlines of nested skills (`timeout` of the step that runs the skill, and of the skill itself).
//!
//! A deadline is decided once, when the skill begins, and recorded. It is paused while a question inside is
//! open. The deadline of the whole run is not known here: the driver reports it with [`Event::Stopped`].

use std::sync::Arc;

use deft_model::{Failure, FailureClass, Object};
use jiff::Timestamp;

use crate::Path;
use crate::event::Event;
use crate::machine::{Divergence, Machine};
use crate::plan::Plan;
use crate::progress::misplaced_event;
use crate::state::{Limit, Position, TryState};

impl Machine {
    /// Returns the event that begins the nested skill of a step, and keeps the plan of the skill.
    pub fn enter(&mut self, path: &Path, plan: Arc<Plan>, inputs: Object, now: Timestamp) -> Event {
        let at = self.locate(path).ok();
        let event = Event::Entered {
            path: path.clone(),
            revision: plan.revision.clone(),
            inputs,
            until: at.and_then(|at| self.nested_deadline(at, &plan, now)),
        };
        self.nested.insert(plan.revision.clone(), plan);
        event
    }

    /// Returns the deadline of a nested skill that begins now.
    pub(crate) fn nested_deadline(
        &self,
        at: Position,
        plan: &Plan,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let begun = match self.try_state(at) {
            Some(TryState::Calling { at, .. }) => *at,
            _ => now,
        };
        let later = |from: Timestamp, by| from.saturating_add(by).unwrap_or(Timestamp::MAX);
        let step = &self.frames[at.frame].plan.steps[at.step].step;
        let of_step = step.timeout.map(|timeout| later(begun, timeout));
        let of_skill = plan.timeout.map(|timeout| later(now, timeout));
        of_step.into_iter().chain(of_skill).min()
    }

    /// Returns the earliest deadline of a nested skill.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.counting_skills().map(|(_, until)| until).min()
    }

    /// Returns the event that stops a nested skill whose deadline has passed, the outermost one first. The
    /// caller stores and applies it and cuts off the calls inside.
    pub fn overdue(&self, now: Timestamp) -> Option<Event> {
        let (frame, _) = self.counting_skills().find(|(_, until)| *until <= now)?;
        let path = self.path(self.frames[frame].parent?);
        let skill = &self.frames[frame].plan.skill;
        let message = format!("skill `{skill}` exceeded its `timeout`");
        Some(Event::Expired {
            path,
            failure: Failure::new(FailureClass::Timeout, message),
        })
    }

    /// Returns the nested skills whose deadlines are not paused, the outer ones first.
    fn counting_skills(&self) -> impl Iterator<Item = (usize, Timestamp)> {
        let running = self.stopped.is_none();
        let timed = self.timed.iter().filter(move |_| running);
        timed.filter_map(|index| {
            let frame = &self.frames[*index];
            let counts = frame.stopped.is_none() && frame.asking == 0;
            frame
                .limit
                .filter(|_| counts)
                .map(|limit| (*index, limit.until))
        })
    }

    /// Returns why no step of a frame may begin any more, if it is stopped.
    pub(crate) fn stopped_in(&self, frame: usize) -> Option<&Failure> {
        let of_run = self.stopped.as_ref();
        of_run.or(self.frames[frame].stopped.as_ref())
    }

    /// Whether a step has to stop, because its nested skill or the whole run does.
    pub fn is_stopping(&self, path: &Path) -> bool {
        let at = self.locate(path).ok().map(|at| at.frame);
        let frame = at.or_else(|| self.frame_of(path));
        frame.is_some_and(|frame| self.stopped_in(frame).is_some())
    }

    /// Whether a step waits for its next try.
    pub fn is_waiting(&self, path: &Path) -> bool {
        let at = self.locate(path).ok();
        let state = at.and_then(|at| self.try_state(at));
        matches!(state, Some(TryState::Waiting { .. }))
    }

    /// Replaces the failure of a call that was cut off at a deadline by the timeout.
    pub(crate) fn replace_cancellation(&self, frame: Option<usize>, failure: Failure) -> Failure {
        let stopped = frame.and_then(|frame| self.stopped_in(frame));
        match stopped {
            Some(stopped)
                if failure.class == FailureClass::Cancelled
                    && stopped.class == FailureClass::Timeout =>
            {
                Failure {
                    in_doubt: failure.in_doubt,
                    ..stopped.clone()
                }
            }
            _ => failure,
        }
    }

    /// Sets or replaces the deadline of a nested skill.
    pub(crate) fn limit(&mut self, frame: usize, since: Timestamp, until: Option<Timestamp>) {
        self.frames[frame].limit = until.map(|until| Limit { since, until });
        self.timed.retain(|timed| *timed != frame);
        if until.is_some() {
            let place = self.timed.partition_point(|timed| *timed < frame);
            self.timed.insert(place, frame);
        }
    }

    /// Gives a resumed nested skill as much time as it had at first.
    pub(crate) fn renew(&mut self, frame: usize, now: Timestamp) {
        let until = self.frames[frame].limit.map(|limit| {
            let had = limit.until.duration_since(limit.since);
            now.saturating_add(had).unwrap_or(Timestamp::MAX)
        });
        self.limit(frame, now, until);
    }

    pub(crate) fn apply_expired(
        &mut self,
        now: Timestamp,
        path: &Path,
        failure: &Failure,
    ) -> Result<(), Divergence> {
        let at = self.locate(path)?;
        let Some(TryState::Inside { frame, .. }) = self.try_state(at) else {
            return Err(misplaced_event(
                path,
                "reached the deadline of a nested skill, but runs none",
            ));
        };
        let outer = *frame;
        let mut inside = vec![false; self.frames.len()];
        inside[outer] = true;
        // A frame always comes after its parent.
        for frame in outer..self.frames.len() {
            let parent = self.frames[frame].parent;
            inside[frame] |= parent.is_some_and(|parent| inside[parent.frame]);
            if inside[frame] && !self.frames[frame].left {
                self.frames[frame].stopped = Some(failure.clone());
                self.stop_frame(now, frame, failure)?;
            }
        }
        Ok(())
    }

    /// Pauses the deadlines of a frame and of the skills around it, while a person is asked or a step waits.
    pub(crate) fn pause(&mut self, now: Timestamp, frame: usize) {
        let mut next = Some(frame);
        while let Some(frame) = next {
            let frame = &mut self.frames[frame];
            frame.asking += 1;
            frame.paused_at.get_or_insert(now);
            next = frame.parent.map(|parent| parent.frame);
        }
    }

    /// Undoes one [`pause`](Self::pause); the deadlines continue when no other question or wait is open.
    pub(crate) fn unpause(&mut self, now: Timestamp, frame: usize) {
        let mut next = Some(frame);
        while let Some(frame) = next {
            let frame = &mut self.frames[frame];
            frame.asking = frame.asking.saturating_sub(1);
            if frame.asking == 0
                && let Some(since) = frame.paused_at.take()
                && let Some(limit) = &mut frame.limit
            {
                let stood = now.duration_since(since).max(jiff::SignedDuration::ZERO);
                limit.since = limit.since.saturating_add(stood).unwrap_or(Timestamp::MAX);
                limit.until = limit.until.saturating_add(stood).unwrap_or(Timestamp::MAX);
            }
            next = frame.parent.map(|parent| parent.frame);
        }
    }
}
