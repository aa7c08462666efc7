//! Calls that change or delete a skill of a file, as they are judged.
//!
//! The change itself is made by `deft-library`. A changed file skill has the rights of the agent that
//! changed it, so that it is judged like a record with the same tools.

use deft_library::{Overlay, is_record, not_named};
use deft_model::{Authority, Object, Skill};
use deft_records::{Target, target};

use crate::Agents;

/// The tool that changes a skill.
pub(super) const UPDATE: &str = "memory_update_skill";

/// The tool that deletes one.
pub(super) const DELETE: &str = "memory_delete_skill";

impl Agents {
    /// Why an agent may not change or delete a skill of a file: it is none of those it may name.
    pub(super) fn out_of_reach(
        &self,
        authority: &Authority,
        tool: &str,
        args: &Object,
    ) -> Option<String> {
        if tool != UPDATE && tool != DELETE {
            return None;
        }
        let known = self.library.named_skill(&target_name(args)?)?;
        (!is_record(&known))
            .then(|| not_named(authority, &known.skill))
            .flatten()
    }

    /// A file skill after a change, as the library would store it.
    pub(super) fn changed_file_skill(&self, skill: &Skill, changes: &Object) -> Skill {
        let (moment, none) = (self.base.moment(), Overlay::default());
        let merged = none.merged(skill, changes, skill.policy.enabled, &moment);
        let overlay = none.leading_to(skill, &merged.record, &moment);
        overlay.apply(skill, &moment)
    }
}

/// The skill that a call names.
pub(super) fn target_name(args: &Object) -> Option<String> {
    Some(match target(args).0? {
        Target::Id(id) => id.to_string(),
        Target::Name(name) => name,
    })
}
