//! The permission of steps where a run or a skill has the rights of an agent: which steps a person has to
//! agree to first, and which are forbidden.
//!
//! A step asks once, before its first try and before its loop. The call of each try is checked against the
//! same rights again when it begins, so that no call goes unchecked. Not here: what the rights mean for a
//! tool (`Facts`), and who answers.

use deft_model::{Authority, Failure, FailureClass, Object};
use deft_template::Template;

use crate::Path;
use crate::decide::operation;
use crate::event::{Answer, Event};
use crate::facts::{Facts, Permit};
use crate::machine::Machine;
use crate::planned::PlannedStep;
use crate::state::Position;

impl Machine {
    /// Returns the rights of a step: those of the agent that started the run combined with those of the
    /// agents that stored the skills around the step. `None` if no agent was involved.
    pub fn authority(&self, path: &Path) -> Option<Authority> {
        let at = self.locate(path).ok()?;
        self.authority_in(at.frame)
    }

    /// Whether the run has the rights of an agent.
    pub fn has_authority(&self) -> bool {
        !self.frames.is_empty() && self.authority_in(0).is_some()
    }

    pub(crate) fn authority_in(&self, frame: usize) -> Option<Authority> {
        let started = self.origin.as_ref();
        let started = started.and_then(|origin| origin.started.authority.as_deref());
        let mut all = started.cloned();
        let mut next = Some(frame);
        while let Some(frame) = next {
            let frame = &self.frames[frame];
            if let Some(own) = frame.plan.authority.as_deref() {
                all = Some(all.map_or_else(|| own.clone(), |all| all.and(own)));
            }
            next = frame.parent.map(|parent| parent.frame);
        }
        // A person knows the tools of a skill that they wrote.
        let own = &self.frames[frame];
        let of_person = own.parent.is_some() && own.plan.authority.is_none();
        all.map(|all| Authority {
            ask_unannotated: all.ask_unannotated && !of_person,
            ..all
        })
    }

    /// Returns the question before a step: the one that its skill declares, the one that the rights of an
    /// agent require, or both in one. A forbidden step fails instead.
    pub(crate) fn ask_first(
        &self,
        at: Position,
        planned: &PlannedStep,
        facts: &dyn Facts,
    ) -> Option<Event> {
        let declared = planned.question.as_ref();
        match (declared, self.permit_step(at, planned, facts)) {
            (None, Permit::Free) => None,
            (_, Permit::Denied(failure)) => Some(self.fail_before_call(at, failure)),
            (Some((question, default)), Permit::Free) => {
                Some(self.ask(at, planned, Some(question), *default, None))
            }
            (declared, Permit::Ask(why)) => {
                let question = declared.map(|(question, _)| question);
                Some(self.ask(at, planned, question, false, Some(why)))
            }
        }
    }

    fn permit_step(&self, at: Position, planned: &PlannedStep, facts: &dyn Facts) -> Permit {
        if planned.work.tool().is_none() {
            return Permit::Free;
        }
        let (Some(authority), Some(view)) =
            (self.authority_in(at.frame), self.view(at.frame, Some(at)))
        else {
            return Permit::Free;
        };
        let operation = operation(planned, &view);
        let args = operation.args.as_ref().and_then(|args| args.as_object());
        match &operation.name {
            Some(tool) => facts.permit(&authority, tool, args),
            None => Permit::Ask("Call a tool whose name depends on the loop item?".to_owned()),
        }
    }

    /// Whether a person has agreed to a step.
    pub fn is_agreed(&self, path: &Path) -> bool {
        self.locate(path).is_ok_and(|at| self.has_agreed(at))
    }

    fn has_agreed(&self, at: Position) -> bool {
        self.frames[at.frame].steps[at.step].answer == Some(Answer::Yes)
    }

    /// Whether the question before a step was about the rights, and not only one that its skill
    /// declares.
    fn asked_for_rights(&self, at: Position, facts: &dyn Facts) -> bool {
        let planned = &self.frames[at.frame].plan.steps[at.step];
        let step = Position { item: None, ..at };
        matches!(self.permit_step(step, planned, facts), Permit::Ask(_))
    }

    /// Returns why a call may not be made: it is forbidden, or no person has agreed to it. `None` if it may
    /// be made.
    pub(crate) fn forbidden(
        &self,
        at: Position,
        tool: &str,
        args: &Object,
        facts: &dyn Facts,
    ) -> Option<Failure> {
        let authority = self.authority_in(at.frame)?;
        let agreed = self.has_agreed(at) && self.asked_for_rights(at, facts);
        match facts.permit(&authority, tool, Some(args)) {
            Permit::Free => None,
            Permit::Ask(_) if agreed => None,
            Permit::Ask(_) => Some(unasked_failure(tool)),
            Permit::Denied(failure) => Some(failure),
        }
    }

    fn ask(
        &self,
        at: Position,
        planned: &PlannedStep,
        question: Option<&Template>,
        default: bool,
        why: Option<String>,
    ) -> Event {
        let Some(view) = self.view(at.frame, Some(at)) else {
            return self.skip(at, "the run has not begun");
        };
        let declared = match question
            .map(|question| question.render_text(&view))
            .transpose()
        {
            Ok(declared) => declared,
            Err(error) => return self.render_failure_event(at, "confirmation", &error),
        };
        let message: Vec<String> = declared.into_iter().chain(why).collect();
        Event::Asked {
            path: self.path(at),
            message: message.join(" "),
            default,
            operation: operation(planned, &view),
        }
    }
}

fn unasked_failure(tool: &str) -> Failure {
    let message = format!("`{tool}` needs an approval, and its step could not ask for one");
    Failure::new(FailureClass::Invalid, message).hint(
        "name the tool and its arguments in the step, so that they are known before it begins",
    )
}
