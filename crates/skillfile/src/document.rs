//! Skill files: their location, kind and profile, and the document that they define.
//!
//! Not here: parsing (`parse` and the dialects).

use deft_model::{Agent, DomainIndex, Skill};

/// Where a file is, as far as its meaning depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLocation<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The name of the folder that contains it.
    pub folder: &'a str,
    /// The first folder below the skills root, which is the domain (S2.13).
    pub domain: Option<&'a str>,
}

impl FileLocation<'_> {
    /// Returns the file's name without its extension.
    pub(crate) fn stem(&self) -> &str {
        self.file
            .rsplit_once('.')
            .map_or(self.file, |(stem, _)| stem)
    }

    /// Returns the dotted name that the path implies.
    pub(crate) fn dotted_name(&self) -> Option<String> {
        self.domain
            .map(|domain| format!("{domain}.{}", self.stem()))
    }
}

/// The kind of a skill file, determined by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// `SKILL.md` or `skill.md`.
    SkillMd,
    /// `AGENT.md`.
    AgentMd,
    /// Any other Markdown file.
    Markdown,
    /// YAML.
    Workflow,
    /// JSON, read only if its name is given explicitly.
    Record,
}

impl FileKind {
    /// Returns the kind for a file name, or `None` if it is not a skill file.
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

/// Whether a name such as `Skill.md` is meant to be a `SKILL.md`. It is found as one only on file systems
/// that ignore case.
pub(crate) fn is_miscased(file: &str) -> bool {
    file.eq_ignore_ascii_case("skill.md") && !matches!(file, "SKILL.md" | "skill.md")
}

/// The rules that a file is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// deft's rules: load as much as possible, and report tolerated problems.
    Deft,
    /// The rules of the open format's reference validator, for `SKILL.md` only.
    AgentSkills,
}

/// The definition in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// A skill.
    Skill(Box<Skill>),
    /// The index of a domain.
    Domain(DomainIndex),
    /// An agent.
    Agent(Box<Agent>),
}
