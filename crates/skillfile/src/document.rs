//! A file of ours: where it lies, what kind it is, whose rules decide, and what it defines.
//!
//! Not here: reading it (`parse` and the dialects).

use deft_model::{Agent, DomainIndex, Skill};

/// Where a file lies, as far as its meaning depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The name of the folder it is in.
    pub folder: &'a str,
    /// The first folder below the skills root, which is the domain (S2.13).
    pub domain: Option<&'a str>,
}

impl Place<'_> {
    /// The file's name without its extension.
    pub(crate) fn stem(&self) -> &str {
        self.file
            .rsplit_once('.')
            .map_or(self.file, |(stem, _)| stem)
    }

    /// The dotted name that the path stands for.
    pub(crate) fn dotted(&self) -> Option<String> {
        self.domain
            .map(|domain| format!("{domain}.{}", self.stem()))
    }
}

/// What kind of skill file a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `SKILL.md` or `skill.md`.
    SkillMd,
    /// `AGENT.md`.
    AgentMd,
    /// Any other markdown.
    Markdown,
    /// YAML.
    Workflow,
    /// JSON, read only when it is asked for by name.
    Record,
}

impl FileKind {
    /// The kind of a file name, if it is one of ours.
    pub fn from_name(file: &str) -> Option<Self> {
        if matches!(file, "SKILL.md" | "skill.md") {
            return Some(Self::SkillMd);
        }
        if file == "AGENT.md" {
            return Some(Self::AgentMd);
        }
        if is_miscased(file) {
            return Some(Self::Markdown);
        }
        match file.rsplit_once('.')?.1 {
            "md" => Some(Self::Markdown),
            "yaml" | "yml" => Some(Self::Workflow),
            "json" => Some(Self::Record),
            _ => None,
        }
    }
}

/// `Skill.md` and the like: meant to be a `SKILL.md`, and found as one only
/// where the file system does not tell the cases apart.
pub(crate) fn is_miscased(file: &str) -> bool {
    file.eq_ignore_ascii_case("skill.md") && !matches!(file, "SKILL.md" | "skill.md")
}

/// Whose rules decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Ours: load what can be loaded, and say what was forgiven.
    Deft,
    /// The open format's reference validator, for `SKILL.md` only.
    AgentSkills,
}

/// What a file defines.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// A skill.
    Skill(Box<Skill>),
    /// The index of a domain.
    Domain(DomainIndex),
    /// An agent.
    Agent(Box<Agent>),
}
