//! What became of the files that were found.

use std::path::Path;
use std::sync::Arc;

use deft_model::SkillId;
use deft_skillfile::{Diagnostic, Rule};

/// What became of one file or folder.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The file or folder.
    pub path: Arc<Path>,
    /// The root it was found in.
    pub root: Arc<Path>,
    /// What became of it.
    pub state: State,
    /// What is wrong with it.
    pub diagnostics: Arc<[Diagnostic]>,
}

impl FileReport {
    /// Why it is not read at all, for a link, pipe or device that defines nothing.
    pub fn left_out(&self) -> Option<&Diagnostic> {
        let why = self.diagnostics.first()?;
        let rule = matches!(why.rule, Rule::LinkOutside | Rule::SpecialFile);
        (rule && self.state == State::Ignored).then_some(why)
    }
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It defines this skill.
    Loaded(SkillId),
    /// It is the index of this domain.
    Index(String),
    /// It defines this agent.
    Agent(String),
    /// Another file defines the same skill or domain and comes first.
    Shadowed {
        /// What both define.
        id: String,
        /// The file that counts.
        by: Arc<Path>,
    },
    /// It cannot be loaded; what it said before may still be in use.
    Broken {
        /// The skill or agent that is kept as it was.
        kept: Option<SkillId>,
    },
    /// It is not meant to be a skill.
    Ignored,
}
