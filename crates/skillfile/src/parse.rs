//! Entry point: converts the bytes of a file to a document and diagnostics.

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Sink, has_errors};
use crate::document::{Document, FileKind, FileLocation, Profile, is_miscased};
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::strict::Properties;
use crate::trigger::Moment;
use crate::{agentmd, manpage, record, skillmd, source, workflow};

/// The result of parsing a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedFile {
    /// The definition in the file, unless an error keeps it from loading.
    pub document: Option<Document>,
    /// The problems, in file order.
    pub diagnostics: Vec<Diagnostic>,
    /// The output of the reference's `read-properties`, for a `SKILL.md` that the reference can read.
    pub properties: Option<Properties>,
}

/// Parses a file.
pub fn parse(
    bytes: &[u8],
    location: &FileLocation<'_>,
    profile: Profile,
    moment: &Moment,
) -> ParsedFile {
    let mut sink = Sink::default();
    let Some(source) = source::decode(bytes, &mut sink) else {
        return finish(None, None, sink);
    };
    match FileKind::from_name(location.file) {
        _ if is_miscased(location.file) => {
            let message = format!("a file named `{}` is not loaded", location.file);
            sink.report_as(Severity::Warning, Rule::NotASkill, Span::NONE, message)
                .help("rename it to `SKILL.md`");
            finish(None, None, sink)
        }
        Some(FileKind::SkillMd) => {
            if profile == Profile::AgentSkills && source.start > 0 {
                sink.escalate(Rule::Bom);
            }
            let read = skillmd::read(&source, location, profile, moment, &mut sink);
            finish(read.document, read.properties, sink)
        }
        Some(FileKind::AgentMd) => {
            let document = agentmd::read(&source, location, &mut sink);
            finish(document, None, sink)
        }
        Some(FileKind::Markdown) => {
            let document = manpage::read(&source, location, moment, &mut sink);
            finish(document, None, sink)
        }
        Some(FileKind::Workflow) => {
            let document = workflow::read(&source, location, moment, &mut sink);
            finish(document, None, sink)
        }
        Some(FileKind::Record) => {
            let document = record::read(&source, moment, &mut sink);
            finish(document, None, sink)
        }
        None => finish(None, None, sink),
    }
}

/// Parses a record passed by a program, such as `memory_store_skill`.
pub fn parse_record(value: &Value, moment: &Moment) -> ParsedFile {
    let mut sink = Sink::default();
    let document = record::read_value(value, moment, &mut sink);
    finish(document, None, sink)
}

/// Drops a document with errors, so that no caller can load an incomplete skill.
fn finish(document: Option<Document>, properties: Option<Properties>, sink: Sink) -> ParsedFile {
    let diagnostics = sink.finish();
    let document = document.filter(|_| !has_errors(&diagnostics));
    ParsedFile {
        document,
        diagnostics,
        properties,
    }
}
