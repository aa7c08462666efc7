//! Rendering of a YAML workflow.

use deft_model::{
    Body, Confirmation, Expect, Heal, Input, Object, OnError, Skill, Step, Workflow, seconds,
};
use serde_json::{Value, json};

use super::emit;
use super::keys::{entries, put, put_given, timing};

/// Renders a skill as a YAML workflow. `None` if its body is prose.
pub fn workflow(skill: &Skill) -> Option<String> {
    let call;
    let body = match &skill.body {
        Body::Steps(workflow) => workflow,
        Body::Call {
            step,
            kind,
            on_error,
            timeout,
            ..
        } => {
            let step = Step {
                on_error: *on_error,
                timeout: *timeout,
                ..Step::new(step, kind.clone())
            };
            call = Box::new(single(step));
            &call
        }
        Body::Instructions(_) | Body::Manual { .. } => return None,
    };
    let mut head = Object::new();
    put(&mut head, "name", skill.name.clone());
    put(&mut head, "description", skill.description.clone());
    head.extend(entries(skill.details.entries()));
    put(&mut head, "license", skill.open.license.clone());
    timing(skill, &mut head);
    put(&mut head, "keywords", skill.keywords.clone());
    put(&mut head, "required_tools", skill.required_tools.clone());
    head.extend(entries(skill.policy.entries()));
    put(
        &mut head,
        "inputs",
        body.inputs.iter().map(input).collect::<Vec<_>>(),
    );
    put(
        &mut head,
        "steps",
        body.steps.iter().map(step).collect::<Vec<_>>(),
    );
    put(&mut head, "outputs", Value::Object(body.outputs.clone()));
    put(
        &mut head,
        "confirmations",
        body.confirmations
            .iter()
            .map(confirmation)
            .collect::<Vec<_>>(),
    );
    put(
        &mut head,
        "metadata",
        Value::Object(skill.open.metadata.clone()),
    );
    let mut out = String::new();
    emit::mapping(&head, 0, &mut out);
    Some(out)
}

fn single(step: Step) -> Workflow {
    Workflow {
        steps: vec![step],
        ..Workflow::default()
    }
}

fn input(input: &Input) -> Value {
    let mut object = Object::new();
    put(&mut object, "name", input.name.clone());
    put(&mut object, "type", input.kind.to_string());
    put(&mut object, "required", input.required.then_some(true));
    put_given(&mut object, "default", input.default.clone());
    put(&mut object, "description", input.description.clone());
    put(&mut object, "pattern", input.pattern.clone());
    put(&mut object, "enum", input.choices.clone());
    put(&mut object, "max_length", input.max_length);
    Value::Object(object)
}

fn step(step: &Step) -> Value {
    let mut object = Object::new();
    put(&mut object, "id", step.id.clone());
    put(&mut object, "description", step.description.clone());
    put(&mut object, "condition", step.condition.clone());
    for (key, value) in step.kind.entries() {
        put(&mut object, key, value);
    }
    if let Some(repeat) = &step.repeat {
        object.insert("loop".to_owned(), repeat.over.clone());
        put(&mut object, "loop_var", repeat.var.clone());
        put(&mut object, "loop_concurrency", repeat.concurrency);
    }
    put(&mut object, "output", step.output.clone());
    let on_error = (step.on_error != OnError::Fail).then(|| step.on_error.to_string());
    put(&mut object, "on_error", on_error);
    put(&mut object, "timeout", step.timeout.map(seconds));
    put(&mut object, "parallel_group", step.parallel_group.clone());
    if let Some(ids) = &step.depends_on {
        object.insert("depends_on".to_owned(), json!(ids));
    }
    put(&mut object, "cache", step.cache.map(seconds));
    put(
        &mut object,
        "effects",
        step.effects.map(|effects| effects.to_string()),
    );
    put(&mut object, "heal", Heal::list(&step.heal));
    put(&mut object, "max_heals", step.max_heals);
    put_given(
        &mut object,
        "expect",
        step.expect.as_ref().map(Expect::value),
    );
    Value::Object(object)
}

fn confirmation(confirmation: &Confirmation) -> Value {
    json!({
        "step": confirmation.step,
        "message": confirmation.message,
        "default": confirmation.default,
    })
}
