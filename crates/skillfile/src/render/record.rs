//! Rendering of a record, as accepted by `memory_store_skill`.

use std::borrow::Cow;

use deft_model::{Body, Object, OnError, Skill, Step, StepKind, Workflow, seconds};
use deft_template::has_markup;
use serde_json::Value;

use super::keys::{entries, put, timing};

/// Renders a skill as a record. `None` if a record cannot express it: a command with a handler, or steps with
/// conditions, loops or compute, or whose data flow would not be detected.
pub fn record(skill: &Skill) -> Option<Value> {
    let mut object = Object::new();
    put(&mut object, "name", skill.name.clone());
    put(&mut object, "description", skill.description.clone());
    put(&mut object, "trigger_type", skill.trigger.to_string());
    timing(skill, &mut object);
    let text = skill
        .text()
        .map_or(Cow::Borrowed(skill.description.as_str()), |text| {
            text.read()
        });
    put(&mut object, "instructions", text.into_owned());
    put(&mut object, "required_tools", skill.required_tools.clone());
    put(&mut object, "execution_plan", plan(&skill.body)?);
    put(&mut object, "keywords", skill.keywords.clone());
    put(
        &mut object,
        "priority",
        (skill.priority != 0).then_some(skill.priority),
    );
    object.extend(entries(skill.details.entries()));
    object.extend(entries(skill.policy.entries()));
    Some(Value::Object(object))
}

fn plan(body: &Body) -> Option<Vec<Value>> {
    match body {
        Body::Call {
            step,
            kind,
            on_error,
            timeout,
            ..
        } => Some(vec![plain(&Step {
            on_error: *on_error,
            timeout: *timeout,
            ..Step::new(step, kind.clone())
        })?]),
        Body::Instructions(_) | Body::Manual { handler: None, .. } => Some(Vec::new()),
        Body::Manual {
            handler: Some(_), ..
        } => None,
        Body::Steps(workflow) => {
            let calls: Option<Vec<Value>> = workflow.steps.iter().map(plain).collect();
            let bare = Workflow {
                steps: workflow.steps.clone(),
                ..Workflow::default()
            };
            // Several plain calls without data flow would be parsed as instructions.
            calls
                .filter(|calls| calls.len() == 1 || calls.iter().any(requires_workflow))
                .filter(|_| **workflow == bare)
        }
    }
}

/// Renders a step that is only a call, apart from `on_error` and `timeout`.
fn plain(step: &Step) -> Option<Value> {
    let bare = Step {
        on_error: step.on_error,
        timeout: step.timeout,
        ..Step::new(step.id.clone(), step.kind.clone())
    };
    let mut object = (bare == *step).then(|| call(&step.id, &step.kind))??;
    let on_error = (step.on_error != OnError::Fail).then(|| step.on_error.to_string());
    put(&mut object, "on_error", on_error);
    put(&mut object, "timeout", step.timeout.map(seconds));
    Some(Value::Object(object))
}

fn call(id: &str, kind: &StepKind) -> Option<Object> {
    let (tool, args) = match kind {
        StepKind::Tool { tool, args } => (tool.as_str(), args),
        // Plans of records contain tool calls only.
        StepKind::Compute { .. }
        | StepKind::Agent { .. }
        | StepKind::Skill { .. }
        | StepKind::Wait(_) => return None,
    };
    let mut object = Object::new();
    object.insert("id".to_owned(), id.into());
    object.insert("toolName".to_owned(), tool.into());
    object.insert("parameters".to_owned(), args.clone());
    Some(object)
}

/// Whether a planned call requires a workflow.
fn requires_workflow(call: &Value) -> bool {
    call.get("on_error").is_some() || call.get("timeout").is_some() || flows(call)
}

fn flows(value: &Value) -> bool {
    match value {
        Value::String(text) => has_markup(text),
        Value::Array(items) => items.iter().any(flows),
        Value::Object(object) => object.values().any(flows),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
