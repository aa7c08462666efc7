//! Parsing of records: skills stored by an assistant as JSON (S0.1 to S0.8).
//!
//! Records from files and from programs are parsed in the same way. Not here: fixing mistakes of models,
//! which the normaliser does before.

use deft_model::{Dialect, Object, OpenSpec, Skill, SkillId, Text, Timing, Trigger};
use serde_json::Value;

use crate::details;
use crate::diagnostic::Sink;
use crate::document::Document;
use crate::embedded::json_offset;
use crate::fields::{DETAILS, POLICY, RECORD};
use crate::names::slug;
use crate::plan;
use crate::policy;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::source::Source;
use crate::span::Span;
use crate::trigger::{self, Moment};
use crate::yaml::{self, Node};

/// Parses a JSON file. JSON is YAML, so every value has a span.
pub(crate) fn read(source: &Source<'_>, moment: &Moment, sink: &mut Sink) -> Option<Document> {
    let text = &source.file[source.start..];
    // The YAML parser is laxer than JSON; what it would accept is rejected here.
    let value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(problem) => {
            report_json(text, source.start, &problem, sink);
            return None;
        }
    };
    match yaml::parse(text, source.start) {
        Ok(root) => lower(&root?, source.file, moment, sink),
        // JSON allows a few characters that YAML does not; in that case spans are lost.
        Err(_) => read_value(&value, moment, sink),
    }
}

/// Parses a value passed by a program.
pub(crate) fn read_value(value: &Value, moment: &Moment, sink: &mut Sink) -> Option<Document> {
    lower(&Node::from_value(value), "", moment, sink)
}

/// Reports why a text is not JSON, at the position of the error.
fn report_json(text: &str, start: usize, problem: &serde_json::Error, sink: &mut Sink) {
    let at = json_offset(text, problem);
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let message = problem.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let help = match (message, text[at..].chars().next()) {
        ("key must be a string", Some('}')) | ("trailing comma", _) => {
            Some("remove the comma before it".to_owned())
        }
        (_, Some('/')) => Some("JSON has no comments".to_owned()),
        ("key must be a string", _) => Some("keys and strings are in double quotes".to_owned()),
        _ => None,
    };
    let span = Span::new(start + at, start + at + length);
    sink.report(Rule::YamlSyntax, span, format!("not JSON: {message}"))
        .maybe_help(help);
}

fn lower(root: &Node, file: &str, moment: &Moment, sink: &mut Sink) -> Option<Document> {
    let Some(map) = root.as_mapping() else {
        sink.report(
            Rule::NotAMapping,
            root.span,
            format!("a record is a mapping, not {}", root.describe()),
        );
        return None;
    };
    let fields = Fields {
        map,
        file,
        severity: Severity::Error,
    };
    fields.check_keys(&[RECORD, DETAILS, POLICY], Severity::Error, sink);
    let skill = skill(&fields, moment, sink);
    Some(Document::Skill(Box::new(skill)))
}

/// Parses the fields of a record. A missing field has been reported and keeps the skill from loading. The
/// rest is parsed too, so that all problems are reported at once.
fn skill(fields: &Fields<'_>, moment: &Moment, sink: &mut Sink) -> Skill {
    let name = fields.required_text(
        "name",
        (
            Rule::MissingName,
            "`name` is missing",
            "add a name for the skill",
        ),
        sink,
    );
    let name = name.unwrap_or_default();
    let instructions = fields.required_text(
        "instructions",
        (
            Rule::MissingBody,
            "the record has no `instructions`",
            "describe the task in one sentence; required even with an `execution_plan`",
        ),
        sink,
    );
    let keywords = fields.texts("keywords", sink);
    let timing = trigger::read(fields, moment, sink);
    let trigger = trigger_type(fields, timing.as_ref(), &keywords, sink);
    let mut required_tools = fields.texts("required_tools", sink);
    let instructions = Text::from(instructions.as_deref().unwrap_or_default());
    let body = plan::body(fields, instructions, &mut required_tools, sink);
    Skill {
        id: id(&name, fields, sink),
        description: fields
            .filled_text("description", sink)
            .unwrap_or_else(|| name.clone()),
        domain: None,
        dialect: Dialect::Record,
        trigger: trigger.unwrap_or(Trigger::Manual),
        timing,
        keywords,
        priority: fields.integer("priority", sink).unwrap_or_default(),
        details: details::read(fields, sink),
        required_tools,
        body,
        policy: policy::read(fields, sink),
        open: OpenSpec::default(),
        extra: Object::new(),
        name,
    }
}

/// Returns the id for a name in prose.
fn id(name: &str, fields: &Fields<'_>, sink: &mut Sink) -> SkillId {
    let slug = slug(name);
    if slug.is_empty() && !name.is_empty() {
        let message = format!("the name `{name}` has no letters or digits; cannot derive an id");
        sink.report(Rule::InvalidName, fields.span("name"), message)
            .help("use letters or digits");
    }
    SkillId::new(slug)
}

fn trigger_type(
    fields: &Fields<'_>,
    timing: Option<&Timing>,
    keywords: &[String],
    sink: &mut Sink,
) -> Option<Trigger> {
    let by_event = timing.is_some_and(Timing::is_by_event);
    let timed = timing.is_some() && !by_event;
    let given = fields.choice("trigger_type", sink);
    match given {
        None if fields.node("trigger_type").is_none() => {
            let first = fields.map.entries.first();
            let span = first.map_or(Span::NONE, |entry| entry.key_span);
            let problem = sink.report(Rule::InvalidValue, span, "`trigger_type` is missing");
            problem.missing = Some("trigger_type");
            problem.help("it takes `cron`, `event` or `manual`");
        }
        Some(Trigger::Cron) if !timed => {
            let span = fields.span("trigger_type");
            sink.report(
                Rule::TriggerConflict,
                span,
                "a `cron` trigger has no `trigger_config`",
            )
            .help("add `schedule`, `interval_minutes`, `at` or `in_minutes` to it");
        }
        Some(Trigger::Event | Trigger::Manual) if timed => {
            let span = fields.span("trigger_type");
            sink.report(
                Rule::TriggerConflict,
                span,
                "a timed skill has the trigger type `cron`",
            )
            .help("set `trigger_type` to `cron`, or leave `trigger_config` out");
        }
        Some(Trigger::Event) if keywords.is_empty() && !by_event => {
            let span = fields.span("trigger_type");
            let message = "an `event` trigger without `keywords` matches no message";
            sink.report_as(Severity::Warning, Rule::TriggerConflict, span, message)
                .help("add `keywords`");
        }
        Some(Trigger::Cron | Trigger::Event | Trigger::Manual) | None => {}
    }
    given
}
