//! What people and models are shown of the skills: a little at first, more on
//! demand.
//!
//! Everything here takes a [`Snapshot`] and returns text or
//! JSON; nothing is read from disk and nothing is run.

mod entries;
mod help;
mod listing;
mod search;
mod tool;

pub use entries::{command_entries, domain_entries, may_use, skill_entries, workflow_entries};
pub use help::{Topic, Unavailable, Unknown, get_skill, get_skill_with, help};
pub use listing::{ListedSkill, Listing, available_skills, listing};
pub use search::{Query, has_tag, search};
pub use tool::{ServedSkill, load_skill, served_line, skill_tool, skill_tool_spec};

use deft_model::{Body, Dialect, Handler, Skill};
use serde_json::Value;

use crate::snapshot::Snapshot;
use crate::unit::LoadedSkill;

/// Whether a skill asks not to be offered to models.
pub fn is_hidden(skill: &Skill) -> bool {
    skill.extra.get("disable-model-invocation") == Some(&Value::Bool(true))
}

/// Why a command cannot be run by what its page says alone: deft has no such handler in this version.
pub fn missing_handler(skill: &Skill) -> Option<String> {
    let Body::Manual { handler, .. } = &skill.body else {
        return None;
    };
    match Handler::from_text(handler.as_ref()?) {
        Handler::BuiltIn(name) if !Handler::is_there(&name) => Some(format!(
            "the handler `{name}` is not available in this version"
        )),
        Handler::BuiltIn(_) | Handler::Tool(_) | Handler::Skill(_) => None,
    }
}

/// What a model may load by name: skills of the open format and records.
/// Commands have `get_skill`, workflows are run.
fn offered(snapshot: &Snapshot) -> impl Iterator<Item = &LoadedSkill> {
    let prose = |skill: &Skill| matches!(skill.dialect, Dialect::AgentSkills | Dialect::Record);
    let skills = snapshot.skills().map(|loaded| &**loaded);
    skills.filter(move |loaded| prose(&loaded.skill) && !is_hidden(&loaded.skill))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
