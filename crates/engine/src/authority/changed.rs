//! Calls that change or delete a skill of a file, as they are judged.
//!
//! The change itself is made in `changes.rs`. A changed file skill has the rights of the agent that
//! changed it, so that it is judged like a record with the same tools.

use deft_model::{Authority, Failure, Object, Skill};
use deft_records::{Target, target};

use super::{denied, is_only_off};
use crate::agent::is_record;
use crate::engine::Inner;
use crate::overlay::Overlay;

/// The tool that changes a skill.
pub(super) const UPDATE: &str = "memory_update_skill";

/// The tool that deletes one.
pub(super) const DELETE: &str = "memory_delete_skill";

impl Inner {
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
        let known = self.named_skill(&target_name(args)?)?;
        (!is_record(&known))
            .then(|| not_named(authority, &known.skill))
            .flatten()
    }

    /// A file skill after a change, as `changes.rs` would store it.
    pub(super) fn changed_file_skill(&self, skill: &Skill, changes: &Object) -> Skill {
        let (moment, none) = (self.moment(), Overlay::default());
        let merged = none.merged(skill, changes, skill.policy.enabled, &moment);
        let overlay = none.leading_to(skill, &merged.record, &moment);
        overlay.apply(skill, &moment)
    }
}

/// Refuses what an agent may not do to a skill of a file, also where the call could not be judged before:
/// change or delete one that it may not name, or change one that gets secrets.
pub(crate) fn refuse_change(
    by: Option<&Authority>,
    file: &Skill,
    changes: Option<&Object>,
) -> Result<(), Failure> {
    let Some(by) = by else {
        return Ok(());
    };
    if let Some(why) = not_named(by, file) {
        return Err(denied(why));
    }
    let writes = changes.is_some_and(|changes| !is_only_off(changes));
    if writes && !file.policy.secrets.is_empty() {
        let why = format!("`{}` gets secrets, so only a person changes it", file.id);
        return Err(denied(why));
    }
    Ok(())
}

fn not_named(authority: &Authority, skill: &Skill) -> Option<String> {
    let (id, agent) = (skill.id.as_str(), &authority.agent);
    (!authority.may_run(id)).then(|| format!("`{id}` is not one of the skills of agent `{agent}`"))
}

/// The skill that a call names.
pub(super) fn target_name(args: &Object) -> Option<String> {
    Some(match target(args).0? {
        Target::Id(id) => id.to_string(),
        Target::Name(name) => name,
    })
}
