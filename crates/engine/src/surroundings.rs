//! What is known around a skill, for checks that need it: tools as their servers last listed them,
//! and other skills.
//!
//! No server is asked for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use deft_model::Skill;
use deft_skillfile::{Diagnostic, Surroundings, check_against, skills_run_by};
use deft_tools::{Router, ServerState};

use crate::engine::Inner;

/// The most skills that are looked at for one that runs others.
const MOST_SKILLS: usize = 200;

/// The tools that a router knows of. Without servers nothing is known: those of a home may be yet to
/// come.
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

impl Inner {
    /// What is wrong with a skill in its surroundings. It has no places, as no file is looked at.
    pub(crate) async fn check_surroundings(&self, skill: &Skill) -> Vec<Diagnostic> {
        let mut known = known_tools(&self.parts.router);
        let mut skills = BTreeMap::from([(skill.id.to_string(), skills_run_by(skill))]);
        let mut open = skills_run_by(skill);
        while let Some(name) = open.pop() {
            if skills.contains_key(&name) || skills.len() > MOST_SKILLS {
                continue;
            }
            if let Ok(pinned) = self.find(&name).await {
                let run = skills_run_by(&pinned.skill);
                open.extend(run.iter().cloned());
                skills.insert(name, run);
            }
        }
        known.skills = Some(skills);
        check_against("", skill, &known)
    }
}
