//! Parsing of the execution plan of a record: compiled tool calls (S0.3).

use deft_model::{Body, OnError, Step, StepKind, Text, Workflow, nearest};
use deft_template::{NameUse, has_markup};

use crate::diagnostic::Sink;
use crate::expressions::each_template;
use crate::fields::PLAN_STEP;
use crate::names::is_identifier;
use crate::policy::mappings;
use crate::read::Fields;
use crate::rules::Rule;
use crate::severity::Severity;
use crate::span::Span;
use crate::workflow::{BUILT_IN, on_error};
use crate::yaml::{Kind, Node, locate};

/// Returns the body of a record. A plan of one call is direct. Several calls are a workflow if they use each
/// other's results or set `on_error` or `timeout`; otherwise the plan is dropped in favour of an agent that
/// may use its tools (S0.49).
pub(crate) fn body(
    fields: &Fields<'_>,
    instructions: Text,
    tools: &mut Vec<String>,
    sink: &mut Sink,
) -> Body {
    let mut plan = plan(fields, sink);
    for step in &plan {
        let called = step.kind.tool_call().map(|(tool, _)| tool.to_owned());
        if let Some(tool) = called.filter(|tool| !tools.contains(tool)) {
            tools.push(tool);
        }
    }
    if plan.len() == 1
        && let Some(step) = plan.pop()
    {
        return Body::Call {
            step: step.id,
            kind: step.kind,
            on_error: step.on_error,
            timeout: step.timeout,
            instructions,
        };
    }
    let flows = fields.node("execution_plan").is_some_and(has_data_flow);
    if plan.is_empty() || !(flows || plan.iter().any(has_workflow_options)) {
        return Body::Instructions(instructions);
    }
    Body::Steps(Box::new(Workflow {
        steps: plan,
        ..Workflow::default()
    }))
}

/// Whether a step sets options that only a workflow can express.
fn has_workflow_options(step: &Step) -> bool {
    step.on_error != OnError::Fail || step.timeout.is_some()
}

fn plan(fields: &Fields<'_>, sink: &mut Sink) -> Vec<Step> {
    let mut plan: Vec<Step> = Vec::new();
    let flows = fields.node("execution_plan").is_some_and(has_data_flow);
    let maps = mappings(fields, "execution_plan", sink);
    let ids: Vec<String> = maps
        .iter()
        .enumerate()
        .map(|(at, map)| id(&Fields { map, ..*fields }, at))
        .collect();
    for (at, map) in maps.into_iter().enumerate() {
        let fields = Fields { map, ..*fields };
        fields.check_keys(&[PLAN_STEP], Severity::Error, sink);
        if ids[..at].contains(&ids[at]) {
            let message = format!("the step id `{}` is used twice", ids[at]);
            sink.report(Rule::DuplicateStepId, fields.span("id"), message)
                .help("rename one of them");
        }
        if flows && !is_identifier(&ids[at]) {
            let message = format!("`{}` cannot be used in templates", ids[at]);
            sink.report(Rule::InvalidStepId, fields.span("id"), message)
                .help("use letters, digits and `_`, such as `step1`");
        }
        check_parameters(&fields, &ids, at, sink);
        plan.extend(plan_step(&fields, &ids[at], sink));
    }
    plan
}

fn id(fields: &Fields<'_>, at: usize) -> String {
    fields
        .filled_text("id", &mut Sink::default())
        .unwrap_or_else(|| format!("step{}", at + 1))
}

fn plan_step(fields: &Fields<'_>, id: &str, sink: &mut Sink) -> Option<Step> {
    let missing = format!("the step `{id}` of the plan names no `toolName`");
    let missing = (
        Rule::StepAction,
        missing.as_str(),
        "add the tool that is called",
    );
    let on_error = on_error(fields, sink);
    let timeout = fields.duration("timeout", sink);
    let tool = fields.required_text("toolName", missing, sink)?;
    let args = fields.mapping_value("parameters");
    Some(Step {
        on_error,
        timeout,
        ..Step::new(id, StepKind::Tool { tool, args })
    })
}

/// Checks templates in a plan, which may use earlier steps and the names available in every run.
fn check_parameters(fields: &Fields<'_>, ids: &[String], at: usize, sink: &mut Sink) {
    let Some(node) = fields.node("parameters") else {
        return;
    };
    if node.as_mapping().is_none() {
        fields.wrong::<()>("parameters", node, "a mapping", sink);
    }
    let mut problems: Vec<(Span, Rule, String, Option<String>)> = Vec::new();
    each_template(node, fields.file, sink, &mut |scalar, used| {
        if let Some((rule, message, help)) = judge(used, ids, at) {
            let span = locate(fields.file, scalar, used.span.clone());
            problems.push((span, rule, message, help));
        }
    });
    for (span, rule, message, help) in problems {
        sink.report(rule, span, message).maybe_help(help);
    }
}

fn judge(used: &NameUse, ids: &[String], at: usize) -> Option<(Rule, String, Option<String>)> {
    let name = used.name.as_str();
    let above = ids[..at].iter().any(|id| id == name);
    if above || used.guarded || BUILT_IN.contains(&name) {
        return None;
    }
    if ids.iter().any(|id| id == name) {
        let message = if ids[at] == name {
            format!("`{name}` is this very step")
        } else {
            format!("the step `{name}` comes later")
        };
        return Some((Rule::LaterName, message, None));
    }
    let known = ids[..at].iter().map(String::as_str);
    let near = nearest(name, known.filter(|id| is_identifier(id)));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "a plan can use earlier steps by their `id`".to_owned(),
    };
    let message = format!("nothing defines `{name}`");
    Some((Rule::UndefinedName, message, Some(help)))
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
