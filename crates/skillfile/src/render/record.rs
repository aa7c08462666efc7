//! A record, as `memory_store_skill` takes it.

use std::borrow::Cow;

use deft_model::{Action, Body, Object, Skill, Step, Workflow};
use deft_template::has_markup;
use serde_json::{Value, json};

use super::keys::{listed, policy, put, timing};

/// The skill as a record; `None` when a record cannot hold it: code behind a
/// command, and steps with more to them than a call (conditions, loops,
/// compute) or whose data flow would not be seen.
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
    listed(skill, &mut object);
    policy(&skill.policy, &mut object);
    Some(Value::Object(object))
}

fn plan(body: &Body) -> Option<Vec<Value>> {
    match body {
        Body::Call { step, action, .. } => Some(vec![call(step, action)?]),
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
            // Several calls without data flow would be read as instructions.
            calls
                .filter(|calls| calls.len() == 1 || calls.iter().any(flows))
                .filter(|_| **workflow == bare)
        }
    }
}

/// A step that is a call and nothing else.
fn plain(step: &Step) -> Option<Value> {
    let bare = Step::new(step.id.clone(), step.action.clone());
    (bare == *step).then(|| call(&step.id, &step.action))?
}

fn call(id: &str, action: &Action) -> Option<Value> {
    match action {
        Action::Tool { tool, args } => {
            Some(json!({"id": id, "toolName": tool, "parameters": args}))
        }
        Action::Compute { .. } | Action::Agent { .. } | Action::Skill { .. } => None,
    }
}

fn flows(value: &Value) -> bool {
    match value {
        Value::String(text) => has_markup(text),
        Value::Array(items) => items.iter().any(flows),
        Value::Object(object) => object.values().any(flows),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
