//! The skills that enclose a step, and whether the run has done anything before it.
//!
//! Not here: the budgets of those skills, and the outcome of a run that has done nothing.

use deft_model::OnError;

use crate::Path;
use crate::machine::Machine;
use crate::state::{Phase, Position, StepState};

/// A skill that encloses a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnclosingSkill {
    /// Id of the skill.
    pub skill: String,
    /// Revision of the skill.
    pub revision: String,
    /// The step that runs the skill; `None` for the skill of the run.
    pub path: Option<Path>,
}

impl Machine {
    /// Returns the skills around a step, beginning with the skill of the run.
    pub fn enclosing_skills(&self, path: &Path) -> Vec<EnclosingSkill> {
        let Ok(at) = self.locate(path) else {
            return Vec::new();
        };
        let mut around = Vec::new();
        let mut next = Some(at.frame);
        while let Some(frame) = next {
            let frame = &self.frames[frame];
            around.push(EnclosingSkill {
                skill: frame.plan.skill.clone(),
                revision: frame.plan.revision.clone(),
                path: frame.parent.map(|parent| self.path(parent)),
            });
            next = frame.parent.map(|parent| parent.frame);
        }
        around.reverse();
        around
    }

    /// Whether the run has begun nothing but the step at `path`, and ends if this step fails.
    pub fn is_untouched(&self, path: &Path) -> bool {
        let Ok(at) = self.locate(path) else {
            return false;
        };
        let mut way = vec![at];
        while let Some(parent) = way.last().and_then(|at| self.frames[at.frame].parent) {
            way.push(parent);
        }
        let on_the_way =
            |frame: usize, step: usize| way.iter().find(|at| at.frame == frame && at.step == step);
        let quiet = self.frames.iter().enumerate().all(|(index, frame)| {
            let steps = frame.steps.iter().enumerate();
            let mut quiet = steps.map(|(step, state)| match on_the_way(index, step) {
                Some(at) => is_first(at, state),
                None => is_quiet(state),
            });
            quiet.all(|quiet| quiet)
        });
        let fatal = |at: &Position| {
            let step = &self.frames[at.frame].plan.steps[at.step].step;
            step.on_error != OnError::Continue
        };
        quiet && way.iter().all(fatal)
    }
}

/// Whether nothing of a step was begun, and it was not taken over from an earlier run.
fn is_quiet(state: &StepState) -> bool {
    let idle = state.tries.iter().all(|tried| tried.attempts == 0);
    idle && matches!(state.phase, Phase::Pending | Phase::Open | Phase::Skipped)
}

/// Whether a step is tried for the first time, and no other item of it was tried.
fn is_first(at: &Position, state: &StepState) -> bool {
    let own = at.item.unwrap_or(0);
    let mut tries = state.tries.iter().enumerate();
    tries.all(|(item, tried)| tried.attempts == u32::from(item == own))
}
