//! A file that defines something, and the result of loading it.

use std::path::Path;
use std::sync::Arc;

use deft_model::{Agent, Dialect, DomainIndex, Revision, SiblingFile, Skill};
use deft_skillfile::Diagnostic;

use crate::stamp::Stamp;

/// A skill as it was loaded: its content, its hash and the files around it.
#[derive(Debug)]
pub struct LoadedSkill {
    /// The skill.
    pub skill: Skill,
    /// The hash over all of its files.
    pub revision: Revision,
    /// The file that defines it.
    pub path: Arc<Path>,
    /// The files beside it, by path.
    pub siblings: Vec<SiblingFile>,
}

/// An agent as it was loaded.
#[derive(Clone, Debug)]
pub struct LoadedAgent {
    /// The agent.
    pub agent: Agent,
    /// The hash of its file.
    pub revision: Revision,
    /// The file that defines it; none for the default one.
    pub path: Option<Arc<Path>>,
}

/// What a file defines.
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
    /// It was loaded.
    Good(Definition),
    /// It is not meant to be a skill.
    Ignored,
    /// It is broken; the last good state of it stays in use.
    Broken(Option<Definition>),
}

impl Outcome {
    /// What is in use, also when the file has been broken since.
    pub(crate) fn live(&self) -> Option<&Definition> {
        match self {
            Self::Good(defines) | Self::Broken(Some(defines)) => Some(defines),
            Self::Ignored | Self::Broken(None) => None,
        }
    }
}

/// A file that defines something, or should.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    /// The file.
    pub path: Arc<Path>,
    /// The result of loading it.
    pub outcome: Outcome,
    /// What is wrong with it.
    pub diagnostics: Arc<[Diagnostic]>,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) domain: Option<Arc<str>>,
    pub(crate) sibling_stamps: Arc<[(String, Stamp)]>,
}

impl Unit {
    /// Whether it defines a command whose name is not the one that its path stands for.
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
