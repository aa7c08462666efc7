//! The door: bytes of a file in, a skill and diagnostics out.

use deft_model::{Agent, DomainIndex, Skill};
use serde_json::Value;

use crate::diagnostic::{Diagnostic, Severity, Sink, has_errors};
use crate::rules::Rule;
use crate::span::Span;
use crate::strict::Properties;
use crate::trigger::Moment;
use crate::{agentmd, manpage, record, skillmd, source, workflow};

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
fn is_miscased(file: &str) -> bool {
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

/// The result of reading a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedFile {
    /// What it defines, unless something keeps it from loading.
    pub document: Option<Document>,
    /// What is wrong with it, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// What the reference's `read-properties` would print, for a `SKILL.md`
    /// that it can read.
    pub properties: Option<Properties>,
}

/// Reads a file.
pub fn parse(bytes: &[u8], place: &Place<'_>, profile: Profile, moment: &Moment) -> ParsedFile {
    let mut sink = Sink::default();
    let Some(source) = source::decode(bytes, &mut sink) else {
        return finish(None, None, sink);
    };
    match FileKind::from_name(place.file) {
        _ if is_miscased(place.file) => {
            let message = format!("a file named `{}` is not loaded", place.file);
            sink.report_as(Severity::Warning, Rule::NotASkill, Span::NONE, message)
                .help("rename it to `SKILL.md`");
            finish(None, None, sink)
        }
        Some(FileKind::SkillMd) => {
            if profile == Profile::AgentSkills && source.start > 0 {
                sink.escalate(Rule::Bom);
            }
            let read = skillmd::read(&source, place, profile, moment, &mut sink);
            finish(read.document, read.properties, sink)
        }
        Some(FileKind::AgentMd) => {
            let document = agentmd::read(&source, place, &mut sink);
            finish(document, None, sink)
        }
        Some(FileKind::Markdown) => {
            let document = manpage::read(&source, place, moment, &mut sink);
            finish(document, None, sink)
        }
        Some(FileKind::Workflow) => {
            let document = workflow::read(&source, place, moment, &mut sink);
            finish(document, None, sink)
        }
        Some(FileKind::Record) => {
            let document = record::read(&source, moment, &mut sink);
            finish(document, None, sink)
        }
        None => finish(None, None, sink),
    }
}

/// Reads a record that a program handed over, as `memory_store_skill` does.
pub fn parse_record(value: &Value, moment: &Moment) -> ParsedFile {
    let mut sink = Sink::default();
    let document = record::read_value(value, moment, &mut sink);
    finish(document, None, sink)
}

/// A document with an error is not returned, so that no caller can load half a
/// skill.
fn finish(document: Option<Document>, properties: Option<Properties>, sink: Sink) -> ParsedFile {
    let diagnostics = sink.finish();
    let document = document.filter(|_| !has_errors(&diagnostics));
    ParsedFile {
        document,
        diagnostics,
        properties,
    }
}
