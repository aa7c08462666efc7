//! A record, as `memory_store_skill` takes it.

use deft_model::{Action, Body, Object, Skill};
use serde_json::{Value, json};

use super::keys::{listed, policy, put, timing};

/// The skill as a record. Steps that a plan cannot hold (conditions, loops,
/// compute) make it `None`.
pub fn record(skill: &Skill) -> Option<Value> {
    let mut object = Object::new();
    put(&mut object, "name", skill.name.clone());
    put(&mut object, "description", skill.description.clone());
    put(&mut object, "trigger_type", skill.trigger.to_string());
    timing(skill, &mut object);
    let text = skill
        .text()
        .map_or(skill.description.as_str(), |text| text.as_str());
    put(&mut object, "instructions", text);
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
    let call = |id: &str, action: &Action| match action {
        Action::Tool { tool, args } => {
            Some(json!({"id": id, "toolName": tool, "parameters": args}))
        }
        Action::Compute { .. } | Action::Agent { .. } | Action::Skill { .. } => None,
    };
    match body {
        Body::Call { step, action, .. } => Some(vec![call(step, action)?]),
        Body::Instructions(_) | Body::Manual { .. } => Some(Vec::new()),
        Body::Steps(workflow) => {
            let plain = |step: &deft_model::Step| {
                step.condition.is_none() && step.repeat.is_none() && step.depends_on.is_none()
            };
            if !workflow.inputs.is_empty() || !workflow.steps.iter().all(plain) {
                return None;
            }
            workflow
                .steps
                .iter()
                .map(|step| call(&step.id, &step.action))
                .collect()
        }
    }
}
