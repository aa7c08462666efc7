//! A file that defines a skill, domain or agent, and the result of loading it.

use std::path::Path;
use std::sync::Arc;

use deft_model::{Agent, Dialect, DomainIndex, Revision, SiblingFile, Skill};
use deft_skillfile::Diagnostic;

use crate::stamp::Stamp;

/// A loaded skill: its content, its hash and its sibling files.
#[derive(Debug)]
pub struct LoadedSkill {
    /// The skill.
    pub skill: Skill,
    /// The hash over all files of the skill.
    pub revision: Revision,
    /// The file that defines it.
    pub path: Arc<Path>,
    /// The other files of the skill, by path.
    pub siblings: Vec<SiblingFile>,
}

/// A loaded agent.
#[derive(Clone, Debug)]
pub struct LoadedAgent {
    /// The agent.
    pub agent: Agent,
    /// The hash of the file.
    pub revision: Revision,
    /// The file that defines the agent; `None` for the default agent.
    pub path: Option<Arc<Path>>,
}

/// The definition in a file.
#[derive(Clone, Debug)]
pub(crate) enum Definition {
    /// A skill.
    Skill(Arc<LoadedSkill>),
    /// The index of a domain.
    Domain(Arc<DomainIndex>),
    /// An agent.
    Agent(Arc<LoadedAgent>),
}

/// The result of loading a file.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// The file is valid.
    Good(Definition),
    /// The file does not define anything.
    Ignored,
    /// The file is invalid; its last valid definition stays in use.
    Broken(Option<Definition>),
}

impl Outcome {
    /// Returns the definition in use: the current or the last valid one.
    pub(crate) fn live(&self) -> Option<&Definition> {
        match self {
            Self::Good(defines) | Self::Broken(Some(defines)) => Some(defines),
            Self::Ignored | Self::Broken(None) => None,
        }
    }
}

/// A file that defines a skill, domain or agent, or should.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The path of the file.
    pub path: Arc<Path>,
    /// The result of loading it.
    pub outcome: Outcome,
    /// The problems found.
    pub diagnostics: Arc<[Diagnostic]>,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) domain: Option<Arc<str>>,
    pub(crate) sibling_stamps: Arc<[(String, Stamp)]>,
}

impl Unit {
    /// Whether the file defines a command whose name differs from the one that its path implies.
    pub(crate) fn is_misnamed(&self) -> bool {
        let Some(Definition::Skill(loaded)) = self.outcome.live() else {
            return false;
        };
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        let (Some(domain), Some(stem)) = (&self.domain, stem) else {
            return false;
        };
        let skill = &loaded.skill;
        skill.dialect == Dialect::ManPage && skill.id.as_str() != format!("{domain}.{stem}")
    }
}
