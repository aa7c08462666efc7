//! Presentation of skills to people and models: a short list first, details on demand.
//!
//! All functions take a [`Snapshot`] and return text or JSON. Not here: reading files and running skills.

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

/// Returns whether a skill must not be offered to models.
pub fn is_hidden(skill: &Skill) -> bool {
    skill.extra.get("disable-model-invocation") == Some(&Value::Bool(true))
}

/// Returns why the handler of a command is unavailable: this version of deft does not implement it.
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

/// Returns the skills that a model may load by name: those of the open format, and records. Commands are
/// shown by `get_skill`, workflows are run.
fn offered_skills(snapshot: &Snapshot) -> impl Iterator<Item = &LoadedSkill> {
    let prose = |skill: &Skill| matches!(skill.dialect, Dialect::AgentSkills | Dialect::Record);
    let skills = snapshot.skills().map(|loaded| &**loaded);
    skills.filter(move |loaded| prose(&loaded.skill) && !is_hidden(&loaded.skill))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
