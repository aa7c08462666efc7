//! Decisions about calls that change or delete a skill with a file.
//!
//! The change itself is made by `deft-library`. A changed skill has the rights of the agent that changed it,
//! so it is treated like a record with the same tools.

use deft_library::{Overlay, is_record, not_named};
use deft_model::{Authority, Object, Skill};
use deft_records::{Target, target};

use crate::Agents;

impl Agents {
    /// Returns why an agent may not change or delete a skill with a file: it is not one of the agent's
    /// skills.
    pub(super) fn refuse_target(&self, authority: &Authority, args: &Object) -> Option<String> {
        let known = self.library.named_skill(&target_name(args)?)?;
        (!is_record(&known))
            .then(|| not_named(authority, &known.skill))
            .flatten()
    }

    /// Returns a skill with a file after a change, as the library would store it.
    pub(super) fn changed_file_skill(&self, skill: &Skill, changes: &Object) -> Skill {
        let (moment, none) = (self.base.moment(), Overlay::default());
        let merged = none.merge_changes(skill, changes, skill.policy.enabled, &moment);
        let overlay = none.leading_to(skill, &merged.record, &moment);
        overlay.apply(skill, &moment)
    }
}

/// Returns the name or id of the skill that a call is about.
pub(super) fn target_name(args: &Object) -> Option<String> {
    Some(match target(args).0? {
        Target::Id(id) => id.to_string(),
        Target::Name(name) => name,
    })
}
