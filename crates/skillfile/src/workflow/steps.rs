//! Parsing of the steps of a workflow (S3.3).

use std::collections::HashSet;

use deft_model::{Loop, OnError, Step, nearest};
use deft_template::has_markup;
use serde_json::Value;

use super::kinds;
use crate::diagnostic::Sink;
use crate::expressions;
use crate::fields::STEP;
use crate::names::{is_identifier, is_keyword};
use crate::policy::{expect, heals, mappings};
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::yaml::{Mapping, Node, Scalar};

/// Names that are available in templates without any step.
pub(crate) const BUILT_IN: &[&str] = &[
    "inputs",
    "steps",
    "outputs",
    "secrets",
    "execution_id",
    "workspace_uri",
];

/// A step with the mapping it was parsed from, for spans.
pub(crate) struct Draft<'a> {
    pub step: Step,
    pub map: &'a Mapping,
    pub id_span: Span,
}

impl Draft<'_> {
    /// Returns the names under which the value of the step is visible.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        [Some(self.step.id.as_str()), self.step.output.as_deref()]
            .into_iter()
            .flatten()
    }

    /// Returns the span of a text in a list.
    pub(crate) fn item_span(&self, key: &str, text: &str) -> Span {
        let fields = Fields {
            map: self.map,
            file: "",
            severity: Severity::Error,
        };
        fields.item_span(key, text)
    }

    /// Returns the span of a key's value.
    pub(crate) fn key_span(&self, key: &str) -> Span {
        self.map
            .entry(key)
            .map_or(self.id_span, |entry| entry.value.span)
    }
}

/// Parses `steps`.
pub(crate) fn read<'a>(fields: &Fields<'a>, sink: &mut Sink) -> Vec<Draft<'a>> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let mut ids = HashSet::new();
    for map in mappings(fields, "steps", sink) {
        let fields = Fields { map, ..*fields };
        drafts.extend(draft(&fields, sink));
        // Also for steps with other errors.
        let id = fields.node("id").and_then(Node::as_scalar);
        if let Some(id) = id.filter(|id| !ids.insert(id.text.as_str())) {
            let message = format!("the step id `{}` is used twice", id.text);
            sink.report(Rule::DuplicateStepId, fields.span("id"), message)
                .help("rename one of them");
        }
    }
    check_names(fields, &drafts, sink);
    drafts
}

/// Reports names with two meanings. Two steps may share an `output`, because only one of them may run.
fn check_names(fields: &Fields<'_>, drafts: &[Draft<'_>], sink: &mut Sink) {
    let inputs = mappings(fields, "inputs", &mut Sink::default());
    let inputs = inputs.iter().filter_map(|map| map.get("name")?.as_scalar());
    let inputs: HashSet<&str> = inputs.map(|name| name.text.as_str()).collect();
    let ids: HashSet<&str> = drafts.iter().map(|draft| draft.step.id.as_str()).collect();
    for draft in drafts {
        if let Some(output) = &draft.step.output
            && *output != draft.step.id
            && ids.contains(output.as_str())
        {
            let message = format!("the output `{output}` is also the id of a step");
            sink.report(Rule::DuplicateStepId, draft.key_span("output"), message)
                .help("rename one of them");
        }
        for (name, key) in draft.names().zip(["id", "output"]) {
            if inputs.contains(name) {
                let message = format!("`{name}` hides the input of the same name");
                let span = draft.key_span(key);
                sink.report_as(Severity::Warning, Rule::DuplicateStepId, span, message)
                    .help(format!("rename it; the input stays `inputs.{name}`"));
            }
        }
    }
}

/// Reports a step id that does not exist.
pub(crate) fn check_known(id: &str, span: Span, drafts: &[Draft<'_>], sink: &mut Sink) {
    let mut ids = drafts.iter().map(|draft| draft.step.id.as_str());
    if !ids.clone().any(|known| known == id) {
        let near = nearest(id, ids.by_ref()).map(|near| format!("did you mean `{near}`?"));
        sink.report(Rule::UnknownStep, span, format!("unknown step `{id}`"))
            .maybe_help(near);
    }
}

fn draft<'a>(fields: &Fields<'a>, sink: &mut Sink) -> Option<Draft<'a>> {
    fields.check_keys(&[STEP], Severity::Error, sink);
    let place = fields
        .map
        .entries
        .first()
        .map_or(Span::NONE, |entry| entry.key_span);
    let Some(id) = fields.filled_text("id", sink) else {
        sink.report(Rule::MissingStepId, place, "a step has no `id`")
            .help("add `id: …` to name it");
        return None;
    };
    check_name(&id, fields.span("id"), sink);
    let kind = kinds::read(&id, fields, place, sink);
    let output = fields.filled_text("output", sink);
    if let Some(output) = &output {
        check_name(output, fields.span("output"), sink);
    }
    let step = Step {
        kind: kind?,
        output,
        description: fields.text("description", sink),
        condition: condition(fields),
        on_error: on_error(fields, sink),
        timeout: fields.duration("timeout", sink),
        repeat: repeat(fields, sink),
        parallel_group: fields.filled_text("parallel_group", sink),
        depends_on: fields
            .node("depends_on")
            .map(|_| fields.texts("depends_on", sink)),
        cache: fields.duration("cache", sink),
        effects: fields.choice("effects", sink),
        heal: heals(fields, sink),
        max_heals: fields.count("max_heals", sink),
        expect: expect(fields, sink),
        id,
    };
    let id_span = fields.span("id");
    Some(Draft {
        step,
        map: fields.map,
        id_span,
    })
}

fn check_name(name: &str, span: Span, sink: &mut Sink) {
    if BUILT_IN.contains(&name) {
        sink.report(
            Rule::InvalidStepId,
            span,
            format!("`{name}` is a name that templates already have"),
        )
        .help("choose another name");
    } else if is_keyword(name) {
        let message = format!("`{name}` is a word of Python and cannot be a name");
        sink.report(Rule::InvalidStepId, span, message)
            .help("choose another name");
    } else if !is_identifier(name) {
        sink.report(
            Rule::InvalidStepId,
            span,
            format!("`{name}` cannot be used in templates"),
        )
        .help("use letters, digits and `_`, such as `get_issue`");
    }
}

/// Returns the condition. It may be written as a YAML boolean, which Python spells with a capital.
fn condition(fields: &Fields<'_>) -> Option<String> {
    let scalar = fields.node("condition")?.as_scalar()?;
    Some(match scalar.value() {
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            scalar.text.clone()
        }
    })
}

/// Compiles the `condition` of a step, which may also be a boolean.
pub(super) fn check_step_condition(
    node: &Node,
    file: &str,
    sink: &mut Sink,
) -> Option<deft_template::Condition> {
    let Some(scalar) = node.as_scalar() else {
        let message = format!(
            "`condition` takes a Python expression, not {}",
            node.describe()
        );
        sink.report(Rule::WrongType, node.span, message);
        return None;
    };
    if scalar.value().is_boolean() {
        return None;
    }
    expressions::check_condition(node, file, sink)
}

/// Parses `on_error` of a step, in a workflow or a plan.
pub(crate) fn on_error(fields: &Fields<'_>, sink: &mut Sink) -> OnError {
    let Some(text) = fields.filled_text("on_error", sink) else {
        return OnError::Fail;
    };
    let policy = match text.trim() {
        "fail" => Some(OnError::Fail),
        "continue" => Some(OnError::Continue),
        other => retries(other).map(OnError::Retry),
    };
    policy.unwrap_or_else(|| {
        let near = nearest(text.trim(), ["fail", "continue"]);
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "it takes `fail`, `continue` or `retry:N` with N from 1 to 100".to_owned(),
        };
        let message = format!("`on_error` cannot be `{text}`");
        sink.report(Rule::InvalidOnError, fields.span("on_error"), message)
            .help(help);
        OnError::Fail
    })
}

fn retries(text: &str) -> Option<u32> {
    let times = text.strip_prefix("retry:")?.trim().parse().ok()?;
    (1..=100).contains(&times).then_some(times)
}

fn repeat(fields: &Fields<'_>, sink: &mut Sink) -> Option<Loop> {
    let node = fields.node("loop")?;
    let plain = |scalar: &Scalar| !has_markup(&scalar.text);
    if node.as_scalar().is_some_and(plain) {
        let wanted = "a list or a mapping, or a template that gives one";
        return fields.wrong("loop", node, wanted, sink);
    }
    let var = fields
        .filled_text("loop_var", sink)
        .unwrap_or_else(|| "item".to_owned());
    check_name(&var, fields.span("loop_var"), sink);
    Some(Loop {
        over: node.to_value(),
        var,
        concurrency: fields.positive("loop_concurrency", sink),
    })
}
