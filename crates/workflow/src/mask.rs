//! Masking: secrets are replaced by their names in every shape that leaves the engine.
//!
//! A placeholder can be in any text that comes from a skill, a person or a result. Names and ids made by deft
//! have none.

use deft_model::{Cause, DetailAccessor, Details, Object};
use deft_wire::dry_run::{DryDiagnostic, DryLoop, DryRun, DryStep};
use deft_wire::run::{
    CallView, JournalLine, Outage, RunDetail, RunError, RunNotice, RunView, StepError, StepView,
};
use deft_wire::skill::{SkillHead, StoredSkill, TriggerView};
use serde_json::Value;

use crate::placeholder::{mask, mask_value};

/// A value whose texts may contain placeholders of secrets.
pub trait Mask {
    /// Replaces placeholders by the names of the secrets.
    fn mask(&mut self);
}

impl Mask for String {
    fn mask(&mut self) {
        if let Some(masked) = mask(self) {
            *self = masked;
        }
    }
}

impl Mask for Value {
    fn mask(&mut self) {
        mask_value(self);
    }
}

impl Mask for Object {
    fn mask(&mut self) {
        self.values_mut().for_each(mask_value);
    }
}

impl<T: Mask> Mask for Option<T> {
    fn mask(&mut self) {
        self.iter_mut().for_each(Mask::mask);
    }
}

impl<T: Mask> Mask for Vec<T> {
    fn mask(&mut self) {
        self.iter_mut().for_each(Mask::mask);
    }
}

impl Mask for SkillHead {
    fn mask(&mut self) {
        self.name.mask();
        self.description.mask();
        self.trigger.mask();
        self.required_tools.mask();
        self.missing_tools.mask();
        self.last_run_summary.mask();
    }
}

impl Mask for StoredSkill {
    fn mask(&mut self) {
        self.head.mask();
        self.trigger_config.mask();
        self.instructions.mask();
        self.execution_plan.mask();
        self.policy.0.mask();
        self.grants.mask();
    }
}

impl Mask for Details {
    fn mask(&mut self) {
        for row in Self::ROWS {
            match row.place {
                DetailAccessor::Text(text) => text(self).mask(),
                DetailAccessor::Texts(texts) => texts(self).mask(),
            }
        }
    }
}

impl Mask for TriggerView {
    fn mask(&mut self) {
        self.config.mask();
        self.words.mask();
    }
}

impl Mask for Cause {
    fn mask(&mut self) {
        if let Self::Other(word) = self
            && let Some(masked) = mask(word)
        {
            *word = masked.into();
        }
    }
}

impl Mask for RunView {
    fn mask(&mut self) {
        self.cause.mask();
        self.key.mask();
        self.waiting_for.mask();
        self.inputs.mask();
        self.outputs.mask();
        self.error.mask();
    }
}

impl Mask for RunError {
    fn mask(&mut self) {
        self.message.mask();
        self.hint.mask();
        self.outage.mask();
        self.step.mask();
    }
}

impl Mask for Outage {
    fn mask(&mut self) {
        match self {
            Self::Server(name) | Self::Model(name) | Self::Tool(name) => name.mask(),
            Self::NoModel => {}
        }
    }
}

impl Mask for RunDetail {
    fn mask(&mut self) {
        self.run.mask();
        self.check_failed.mask();
        self.request_id.mask();
        self.steps.mask();
        self.calls.mask();
        self.notices.mask();
        for gap in &mut self.interruptions {
            gap.by.mask();
        }
    }
}

impl Mask for StepView {
    fn mask(&mut self) {
        self.reason.mask();
        self.result.mask();
        self.error.mask();
        self.warnings.mask();
    }
}

impl Mask for StepError {
    fn mask(&mut self) {
        self.message.mask();
        self.hint.mask();
    }
}

impl Mask for CallView {
    fn mask(&mut self) {
        self.tool.mask();
        self.args.mask();
        self.answered_by.mask();
        self.note.mask();
    }
}

impl Mask for RunNotice {
    fn mask(&mut self) {
        self.kind.mask();
        self.receipt.mask();
        self.error.mask();
    }
}

impl Mask for DryRun {
    fn mask(&mut self) {
        self.diagnostics.mask();
        self.inputs.mask();
        self.steps.mask();
    }
}

impl Mask for DryDiagnostic {
    fn mask(&mut self) {
        self.message.mask();
        self.help.mask();
    }
}

impl Mask for DryStep {
    fn mask(&mut self) {
        self.condition.mask();
        self.name.mask();
        self.args.mask();
        self.unknown.mask();
        self.confirm.mask();
        self.repeat.mask();
        self.problems.mask();
    }
}

impl Mask for DryLoop {
    fn mask(&mut self) {
        self.items.mask();
    }
}

impl Mask for JournalLine {
    fn mask(&mut self) {
        self.event.mask();
    }
}
