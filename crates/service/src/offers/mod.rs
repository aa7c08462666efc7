//! The tools and skills that deft offers to other programs: its own tools, and its skills as tools, prompts
//! and folders of files.
//!
//! All functions need an engine that stays open. Not here: the protocol that clients use.

mod package;
mod tool;

pub use crate::skills::OfferedInput;
pub use deft_engine::{AgentTool, MemoryTool, OwnTool, RecordTool};
pub use package::{PackageFile, SkillPackage};
pub use tool::{OfferedKind, OfferedTool, own_tools};

use std::sync::Arc;

use deft_engine::{Command, SkillSet};
use deft_model::{Cause, Object, Revision, RunOrigin, Skill};
use deft_registry::discovery::{is_hidden, skill_tool};
use deft_skillfile::render;
use deft_wire::model::{Effects, Tier};
use deft_wire::skill_files::{SchemaDocument, SkillTool};
use deft_wire::{Done, Failure};

use crate::app::App;
use crate::commands::refusal;
use crate::runs::StartRun;
use crate::skills::skill_inputs;

/// The recorded cause of runs that other programs start through these offers.
pub const CAUSE: Cause = Cause::Mcp;

/// A snapshot of all skills.
#[derive(Clone)]
pub struct SkillOffers {
    set: Arc<SkillSet>,
}

/// A skill as other programs see it.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedSkill {
    /// The id.
    pub id: String,
    /// The name as written.
    pub name: String,
    /// A one-line description.
    pub description: String,
    /// The tier.
    pub tier: Tier,
    /// The inputs.
    pub inputs: Vec<OfferedInput>,
    /// Whether the skill file asks for a separate tool for this skill.
    pub is_exposed: bool,
    /// Whether the skill file asks not to be offered to models.
    pub is_hidden: bool,
    /// The effects of running it, if the skill file declares them.
    pub effects: Option<Effects>,
}

/// The result of a request to run a skill.
#[derive(Clone, Debug, PartialEq)]
pub enum SkillRequest {
    /// A run to start.
    Run(StartRun),
    /// The page of the skill, because the request asked for help.
    Page(String),
}

/// Returns the current skills. This is cheap as long as they have not changed.
pub fn skills(app: &App) -> SkillOffers {
    SkillOffers {
        set: app.block_on(app.engine.library().all_skills()),
    }
}

impl SkillOffers {
    pub(crate) fn new(set: Arc<SkillSet>) -> Self {
        Self { set }
    }

    /// Whether both have the same skills. Two sets may be equal even if they are different objects.
    pub fn is_same(&self, other: &Self) -> bool {
        let same = || self.revisions() == other.revisions() && self.list() == other.list();
        Arc::ptr_eq(&self.set, &other.set) || same()
    }

    fn revisions(&self) -> Vec<(&str, Revision)> {
        let skills = self.set.all.skills();
        let mut all: Vec<_> = skills
            .map(|loaded| (loaded.skill.id.as_str(), loaded.revision))
            .collect();
        all.sort_unstable();
        all
    }

    /// Returns the enabled skills, sorted by id.
    pub fn list(&self) -> Vec<OfferedSkill> {
        let skills = self.set.all.skills().map(|loaded| &loaded.skill);
        let mut skills: Vec<_> = skills
            .filter(|skill| skill.policy.enabled)
            .map(offer_skill)
            .collect();
        skills.sort_by(|a, b| a.id.cmp(&b.id));
        skills
    }

    /// Returns the enabled skill `id`.
    pub fn find(&self, id: &str) -> Option<OfferedSkill> {
        self.find_enabled(id).map(offer_skill)
    }

    /// Returns the id of the skill called `name`.
    pub fn resolve(&self, name: &str) -> Option<String> {
        let loaded = self.set.all.find(name)?;
        Some(loaded.skill.id.to_string())
    }

    /// Returns the text of a skill as an assistant gets it.
    pub fn text(&self, id: &str) -> Option<String> {
        self.find_enabled(id).map(render::manual)
    }

    /// Returns the tool `skill`; `None` if no skill can be loaded.
    pub fn loading_tool(&self) -> Option<SkillTool> {
        let tool = skill_tool(&self.set.all)?;
        Some(SkillTool {
            name: tool.name,
            description: tool.description,
            parameters: SchemaDocument(tool.schema),
        })
    }

    /// Interprets a request to run a skill with the given inputs.
    pub fn request(&self, app: &App, name: &str, inputs: Object) -> Done<SkillRequest> {
        let start = |skill: &str, inputs: Object| {
            SkillRequest::Run(StartRun {
                skill: skill.to_owned(),
                inputs,
                cause: CAUSE,
                key: None,
                origin: RunOrigin::default(),
            })
        };
        // `name` may also be the number of a record, which the engine resolves.
        if self.set.all.find(name).is_none() {
            return Ok(start(name, inputs));
        }
        let library = app.engine.library();
        let command = library
            .commands(&self.set.all)
            .resolve_named(name, inputs.clone());
        Ok(match command.map_err(|problems| refusal(&problems))? {
            Command::Run { skill, inputs } => start(skill.skill.id.as_str(), inputs),
            Command::Template(_) => start(name, inputs),
            Command::Page { topic } => SkillRequest::Page(self.text(&topic).ok_or_else(|| {
                Failure::input("unknown_skill", format!("unknown skill `{topic}`"))
            })?),
        })
    }

    fn find_enabled(&self, id: &str) -> Option<&Skill> {
        let loaded = self.set.all.skill(id)?;
        loaded.skill.policy.enabled.then_some(&loaded.skill)
    }
}

fn offer_skill(skill: &Skill) -> OfferedSkill {
    OfferedSkill {
        id: skill.id.to_string(),
        name: skill.name.clone(),
        description: skill.description.clone(),
        tier: skill.tier(),
        inputs: skill_inputs(skill),
        is_exposed: skill.policy.expose,
        is_hidden: is_hidden(skill),
        effects: skill.policy.effects,
    }
}
