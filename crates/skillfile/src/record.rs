//! Records: skills as an assistant stores them, in JSON (S0.1 to S0.8).
//!
//! A record from a file and a record from a program take the same path. What
//! models get wrong is mended by the normaliser before it comes here, not here.

use deft_model::{
    Action, Body, Dialect, Object, OpenSpec, Skill, SkillId, Step, Text, Trigger, Workflow,
};
use deft_template::has_markup;
use serde_json::Value;

use crate::diagnostic::{Severity, Sink};
use crate::expressions;
use crate::fields::{LISTED, PLAN_STEP, POLICY, RECORD};
use crate::names::slug;
use crate::parse::Document;
use crate::policy::{self, mappings};
use crate::read::Fields;
use crate::rules::Rule;
use crate::source::Source;
use crate::span::Span;
use crate::trigger::{self, Moment};
use crate::yaml::{self, Kind, Mapping, Node};

/// Reads a JSON file. JSON is YAML, so every value has its place.
pub(crate) fn read(source: &Source<'_>, moment: &Moment, sink: &mut Sink) -> Option<Document> {
    let text = &source.file[source.start..];
    // The YAML reader is laxer than JSON; what it would let pass is refused.
    if let Err(problem) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
        let at = source.start + offset(text, problem.line(), problem.column());
        let message = problem.to_string();
        let message = message
            .split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned();
        sink.report(
            Rule::YamlSyntax,
            Span::new(at, at),
            format!("not JSON: {message}"),
        );
        return None;
    }
    let root = yaml::parse(text, source.start).ok()??;
    lower(&root, source.file, moment, sink)
}

/// Reads a value that a program handed over.
pub(crate) fn read_value(value: &Value, moment: &Moment, sink: &mut Sink) -> Option<Document> {
    lower(&Node::from_value(value), "", moment, sink)
}

fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    before + column.saturating_sub(1)
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
    fields.check_keys(&[RECORD, LISTED, POLICY], Severity::Error, sink);
    skill(&fields, moment, sink).map(|skill| Document::Skill(Box::new(skill)))
}

fn skill(fields: &Fields<'_>, moment: &Moment, sink: &mut Sink) -> Option<Skill> {
    let name = fields.filled_text("name", sink);
    if name.is_none() {
        sink.report(Rule::MissingName, Span::NONE, "there is no `name`")
            .help("add what the skill is called");
    }
    let instructions = fields.filled_text("instructions", sink);
    if instructions.is_none() {
        sink.report(
            Rule::MissingBody,
            fields.span("name"),
            "there are no `instructions`",
        )
        .help("say in a sentence what is to be done, also beside an `execution_plan`");
    }
    let keywords = fields.texts("keywords", sink);
    let timing = trigger::read(fields, moment, sink);
    let trigger = trigger_type(fields, timing.is_some(), sink);
    let mut required_tools = fields.texts("required_tools", sink);
    let body = body(
        fields,
        Text::from(instructions.as_deref().unwrap_or_default()),
        &mut required_tools,
        sink,
    );
    let name = name?;
    instructions?;
    Some(Skill {
        id: SkillId::new(slug(&name)),
        description: fields
            .filled_text("description", sink)
            .unwrap_or_else(|| name.clone()),
        domain: None,
        dialect: Dialect::Record,
        trigger: trigger?,
        timing,
        keywords,
        priority: fields.integer("priority", sink).unwrap_or_default(),
        tags: fields.texts("tags", sink),
        author: fields.text("author", sink),
        version: fields.text("version", sink),
        created: fields.text("created", sink),
        required_tools,
        body,
        policy: policy::read(fields, sink),
        open: OpenSpec::default(),
        extra: Object::new(),
        name,
    })
}

fn trigger_type(fields: &Fields<'_>, timed: bool, sink: &mut Sink) -> Option<Trigger> {
    let given = fields.choice("trigger_type", sink);
    match given {
        None if fields.node("trigger_type").is_none() => {
            sink.report(
                Rule::InvalidValue,
                fields.span("name"),
                "there is no `trigger_type`",
            )
            .help("it takes `cron`, `event` or `manual`");
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
        Some(Trigger::Cron | Trigger::Event | Trigger::Manual) | None => {}
    }
    given
}

/// One planned call is direct. Several are a workflow when they name their
/// data flow, and otherwise the plan is dropped for an agent that may use its
/// tools (S0.49).
fn body(fields: &Fields<'_>, instructions: Text, tools: &mut Vec<String>, sink: &mut Sink) -> Body {
    let mut plan = plan(fields, sink);
    for (_, tool, _) in &plan {
        if !tools.contains(tool) {
            tools.push(tool.clone());
        }
    }
    if plan.len() == 1
        && let Some((step, tool, args)) = plan.pop()
    {
        return Body::Call {
            step,
            action: Action::Tool { tool, args },
            instructions,
        };
    }
    let flows = fields.node("execution_plan").is_some_and(has_data_flow);
    if plan.is_empty() || !flows {
        return Body::Instructions(instructions);
    }
    Body::Steps(Box::new(Workflow {
        steps: plan
            .into_iter()
            .map(|(id, tool, args)| Step::new(id, Action::Tool { tool, args }))
            .collect(),
        ..Workflow::default()
    }))
}

fn plan(fields: &Fields<'_>, sink: &mut Sink) -> Vec<(String, String, Value)> {
    let mut plan: Vec<(String, String, Value)> = Vec::new();
    for (at, map) in mappings(fields, "execution_plan", sink)
        .into_iter()
        .enumerate()
    {
        let fields = Fields { map, ..*fields };
        let Some((id, tool, args)) = plan_step(&fields, at, sink) else {
            continue;
        };
        if plan.iter().any(|(known, _, _)| *known == id) {
            sink.report(
                Rule::DuplicateStepId,
                fields.span("id"),
                format!("the step id `{id}` is used twice"),
            )
            .help("rename one of them");
        }
        plan.push((id, tool, args));
    }
    plan
}

fn plan_step(fields: &Fields<'_>, at: usize, sink: &mut Sink) -> Option<(String, String, Value)> {
    fields.check_keys(&[PLAN_STEP], Severity::Error, sink);
    let id = fields
        .filled_text("id", sink)
        .unwrap_or_else(|| format!("step{}", at + 1));
    let Some(tool) = fields.filled_text("toolName", sink) else {
        let span = first_key(fields.map);
        sink.report(
            Rule::StepAction,
            span,
            format!("the step `{id}` of the plan names no `toolName`"),
        );
        return None;
    };
    if let Some(node) = fields.node("parameters") {
        expressions::check_templates(node, fields.file, sink);
        if node.as_mapping().is_none() {
            fields.wrong::<()>("parameters", node, "a mapping", sink);
        }
    }
    Some((id, tool, fields.mapping_value("parameters")))
}

fn first_key(map: &Mapping) -> Span {
    map.entries
        .first()
        .map_or(Span::NONE, |entry| entry.key_span)
}

fn has_data_flow(node: &Node) -> bool {
    match &node.kind {
        Kind::Scalar(scalar) => has_markup(&scalar.text),
        Kind::Sequence { items, .. } => items.iter().any(has_data_flow),
        Kind::Mapping(mapping) => mapping
            .entries
            .iter()
            .any(|entry| has_data_flow(&entry.value)),
    }
}
