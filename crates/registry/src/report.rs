//! Reports about the files that were found.

use std::path::Path;
use std::sync::Arc;

use deft_model::SkillId;
use deft_skillfile::{Diagnostic, Rule};

/// The result for one file or folder.
#[derive(Clone, Debug)]
pub struct FileReport {
    /// The path of the file or folder.
    pub path: Arc<Path>,
    /// The root that contains it.
    pub root: Arc<Path>,
    /// How the file was used.
    pub state: State,
    /// The problems found.
    pub diagnostics: Arc<[Diagnostic]>,
}

impl FileReport {
    /// Returns why a link, pipe or device is not read, or `None` if it is.
    pub fn left_out(&self) -> Option<&Diagnostic> {
        let why = self.diagnostics.first()?;
        let rule = matches!(why.rule, Rule::LinkOutside | Rule::SpecialFile);
        (rule && self.state == State::Ignored).then_some(why)
    }
}

/// How a file was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// The file defines this skill.
    Loaded(SkillId),
    /// The file is the index of this domain.
    Index(String),
    /// The file defines this agent.
    Agent(String),
    /// An earlier file defines the same skill, agent or domain.
    Shadowed {
        /// The id that both define.
        id: String,
        /// The file that takes precedence.
        by: Arc<Path>,
    },
    /// The file is invalid; its last valid definition may still be in use.
    Broken {
        /// The skill or agent that stays in use.
        kept: Option<SkillId>,
    },
    /// The file does not define a skill.
    Ignored,
}
