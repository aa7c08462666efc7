//! Parsing of `AGENT.md`: the prompt of an agent, and what it may use (S4.4).
//!
//! Parsing is strict: if an invalid key were ignored with a warning, it could be one that limits the agent,
//! so any invalid value keeps the file from loading (S4.16).
//!
//! Not here: which tools, skills, providers and models exist.

use deft_model::{Agent, AgentMode};

use crate::diagnostic::Sink;
use crate::document::{Document, FileLocation};
use crate::fields::AGENT;
use crate::markdown_file::{page, repaired_tree, split};
use crate::policy;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::source::Source;
use crate::span::Span;

/// Parses an `AGENT.md`.
pub(crate) fn read(
    source: &Source<'_>,
    location: &FileLocation<'_>,
    sink: &mut Sink,
) -> Option<Document> {
    let split = split(source, sink)?;
    let root = repaired_tree(source.file, split, sink)?;
    let Some(map) = root.as_mapping() else {
        let message = format!("the frontmatter is {}", root.describe());
        sink.report(Rule::NotAMapping, root.span, message)
            .help("write keys and values: `name: …` and the limits of the agent");
        return None;
    };
    let fields = Fields {
        map,
        file: source.file,
        severity: Severity::Error,
    };
    fields.check_keys(&[AGENT], Severity::Error, sink);
    check_id(location.folder, sink);
    let prompt = page(&source.file[split.body.start()..split.body.end()]);
    if prompt.is_blank() {
        let message = "no text below the frontmatter; the model gets only the built-in rules";
        sink.report_as(Severity::Warning, Rule::MissingBody, Span::NONE, message)
            .help("write below the frontmatter who the agent is and how it works");
    }
    let name = (
        Rule::MissingName,
        "the agent has no `name`",
        "add a name, for example `name: General Assistant`",
    );
    let agent = Agent {
        id: location.folder.to_owned(),
        name: fields.required_text("name", name, sink).unwrap_or_default(),
        description: fields.filled_text("description", sink),
        provider: fields.filled_text("provider", sink),
        model: fields.filled_text("model", sink),
        allow_skills: fields.truth("allow_skills", sink).unwrap_or(false),
        tools: read_list(&fields, "tools", sink),
        skills: read_list(&fields, "skills", sink),
        approve: fields.texts("approve", sink),
        max_steps: fields.positive("max_steps", sink),
        budget: policy::budget(&fields, sink),
        may_schedule: fields.truth("may_schedule", sink).unwrap_or(false),
        mode: fields.choice("mode", sink).unwrap_or(AgentMode::Auto),
        prompt,
    };
    check_idle(&agent, &fields, sink);
    Some(Document::Agent(Box::new(agent)))
}

/// Returns the list of a key, `None` if it is absent. An empty list allows nothing.
fn read_list(fields: &Fields<'_>, key: &str, sink: &mut Sink) -> Option<Vec<String>> {
    fields.node(key)?;
    Some(fields.texts(key, sink))
}

/// Checks the folder's name, which is the id that skills, schedules and the configuration use.
fn check_id(folder: &str, sink: &mut Sink) {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if folder.is_empty() || !folder.chars().all(fits) {
        let message = format!("`{folder}` cannot be the id of an agent");
        sink.report(Rule::InvalidName, Span::NONE, message)
            .help("name the folder with letters, digits, `-` and `_`");
    }
}

/// Warns about a list of skills without `allow_skills`, which is off by default.
fn check_idle(agent: &Agent, fields: &Fields<'_>, sink: &mut Sink) {
    if agent.skills.is_some() && !agent.allow_skills {
        let message = "`skills` has no effect without `allow_skills: true`";
        let span = fields.span("skills");
        sink.report_as(Severity::Warning, Rule::InvalidValue, span, message)
            .help("add `allow_skills: true`, or remove the list");
    }
}
