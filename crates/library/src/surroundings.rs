//! The surroundings of a skill, for checks that need them: tools as their servers last listed them, and other
//! skills.
//!
//! Not here: requests to servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_base::Error;
use deft_model::{Skill, nearest_name};
use deft_registry::LoadedSkill;
use deft_skillfile::{Diagnostic, Surroundings, check_against, skills_run_by};
use deft_tools::{Router, ServerState};

use crate::Library;
use crate::lookup::skip_unknown;

/// Maximum number of skills that are followed for one that runs others.
const MAX_SKILLS: usize = 200;

/// Returns the tools that a router knows. The list counts as incomplete without servers: they may not be
/// configured yet.
pub fn known_tools(router: &Router) -> Surroundings {
    let mut known = Surroundings::default();
    for tool in router.list() {
        for name in [tool.shown.clone(), tool.name.clone(), tool.full_name()] {
            known.tools.insert(name, Arc::clone(&tool.input_schema));
        }
    }
    let health = router.health();
    let mut used = health.iter().filter(|it| it.state != ServerState::Disabled);
    known.complete = !health.is_empty() && used.all(|server| server.protocol.is_some());
    let listed = health
        .into_iter()
        .filter(|server| server.protocol.is_some());
    known.servers = listed.map(|server| server.server).collect();
    known
}

/// Returns the diagnostics of a skill that are about tools, for lists and logs. A scheduled skill waits for
/// the tools it requires, which is reported elsewhere, so only likely misspellings among these are reported.
pub fn check_tools(skill: &Skill, known: &Surroundings) -> Vec<Diagnostic> {
    if skill.timing.is_none() || skill.required_tools.is_empty() {
        return check_against("", skill, known);
    }
    let mut skill = skill.clone();
    let names = || known.tools.keys().map(String::as_str);
    skill
        .required_tools
        .retain(|tool| nearest_name(tool, names()).is_some());
    check_against("", &skill, known)
}

impl Library {
    /// Returns the file skills that have diagnostics about tools of the router.
    pub fn check_tools(&self) -> Vec<(Arc<LoadedSkill>, Vec<Diagnostic>)> {
        let known = known_tools(&self.router);
        let snapshot = self.snapshot();
        let checked = snapshot.skills().map(|loaded| {
            let found = check_tools(&loaded.skill, &known);
            (Arc::clone(loaded), found)
        });
        checked.filter(|(_, found)| !found.is_empty()).collect()
    }
}

impl Library {
    /// Returns the diagnostics of a skill that depend on its surroundings. They have no positions, because no
    /// file is read.
    pub async fn check_surroundings(&self, skill: &Skill) -> Result<Vec<Diagnostic>, Error> {
        let mut known = known_tools(&self.router);
        let mut skills = BTreeMap::from([(skill.id.to_string(), skills_run_by(skill))]);
        let mut open = skills_run_by(skill);
        while let Some(name) = open.pop() {
            if skills.contains_key(&name) || skills.len() > MAX_SKILLS {
                continue;
            }
            if let Some(pinned) = skip_unknown(self.find(&name).await)? {
                let run = skills_run_by(&pinned.skill);
                open.extend(run.iter().cloned());
                skills.insert(name, run);
            }
        }
        known.skills = Some(skills);
        Ok(check_against("", skill, &known))
    }
}
