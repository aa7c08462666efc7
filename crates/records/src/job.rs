//! Background jobs: converts `queue_task` to a record with a manual trigger (S0.77).
//!
//! Not here: when a job runs, and where its state is stored.

use deft_model::{DEFAULT_AGENT, Object};
use serde_json::{Value, json};

use crate::json;
use crate::names::snake;
use crate::normalise::shape_steps;
use crate::refusal::{Problem, Refusal};

/// The reaction to a failed call, as in the job runner that deft replaces (S0.80).
const ON_ERROR: &str = "retry:3";

/// Converts the arguments of `queue_task` to a record. A single call becomes a direct skill; several calls
/// become a workflow, run in order, and may use each other's results.
pub fn job(args: &Object) -> Result<Object, Refusal> {
    let mut args = args.clone();
    let action = action(&mut args)?;
    let mut plan = steps(&action)?;
    shape_steps(&mut plan, &mut Vec::new());
    let problems = harden(&mut plan);
    if !problems.is_empty() {
        return Err(Refusal { problems });
    }
    let tools = crate::normalise::plan_tools(&Object::from_iter([(
        "execution_plan".to_owned(),
        plan.clone(),
    )]));
    let name = find(&args, &["name", "title", "task", "task_name", "label"]);
    let name = name.and_then(|key| json::text_of_scalar(args.get(&key)?));
    let name = name.filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| format!("Call {}", tools.join(", ")));
    let mut record = Object::new();
    record.insert("name".to_owned(), json!(name));
    record.insert("trigger_type".to_owned(), json!("manual"));
    record.insert(
        "instructions".to_owned(),
        json!(format!("Background job: {name}")),
    );
    record.insert("execution_plan".to_owned(), plan);
    // No notice, because the caller that queued the job looks up its state.
    record.insert("notify_on_completion".to_owned(), json!(false));
    let agent = find(&args, &["agent_id", "agent"]).and_then(|key| json::take(&mut args, &key));
    let agent = agent
        .filter(Value::is_string)
        .unwrap_or(json!(DEFAULT_AGENT));
    record.insert("agent_id".to_owned(), agent);
    Ok(record)
}

fn find(object: &Object, names: &[&str]) -> Option<String> {
    let key = |name: &&str| object.keys().find(|key| snake(key) == **name).cloned();
    names.iter().find_map(key)
}

fn refuse<T>(field: &str, message: impl Into<String>) -> Result<T, Refusal> {
    let problem = Problem::new(field, message).hint(
        "give `action` as `{\"type\": \"tool_call\", \"toolName\": …, \"parameters\": {…}}` or \
         `{\"type\": \"workflow\", \"workflowSteps\": […]}`",
    );
    Err(Refusal {
        problems: vec![problem],
    })
}

/// Returns the action, which models also send as text or flattened into the arguments.
fn action(args: &mut Object) -> Result<Object, Refusal> {
    let key = find(args, &["action", "job", "step", "call"]);
    let given = key.and_then(|key| json::take(args, &key));
    match given {
        Some(Value::Object(action)) => Ok(action),
        Some(Value::String(text)) => match json::parse_in_text(&text) {
            Some(Value::Object(action)) => Ok(action),
            Some(steps @ Value::Array(_)) => Ok(Object::from_iter([("steps".to_owned(), steps)])),
            _ => flatten_action(args, Some(&text)),
        },
        Some(steps @ Value::Array(_)) => Ok(Object::from_iter([("steps".to_owned(), steps)])),
        Some(_) | None => flatten_action(args, None),
    }
}

/// Parses `{"name": …, "action": "tool_call", "toolName": …}`.
fn flatten_action(args: &mut Object, kind: Option<&str>) -> Result<Object, Refusal> {
    let own = ["tool_name", "tool", "workflow_steps", "steps", "function"];
    if find(args, &own).is_none() {
        let Some(tool) = kind.filter(|kind| !kind.trim().is_empty() && !is_kind(kind)) else {
            return refuse("action", "`action` is missing");
        };
        // `"action": "telegram_send_message"`, with the arguments at the same level.
        args.insert("toolName".to_owned(), tool.into());
    }
    let known = |key: &str| {
        matches!(
            snake(key).as_str(),
            "name" | "title" | "agent_id" | "agent" | "type"
        )
    };
    let keys: Vec<String> = args.keys().filter(|key| !known(key)).cloned().collect();
    let taken = keys.into_iter().filter_map(|key| {
        let value = json::take(args, &key)?;
        Some((key, value))
    });
    Ok(taken.collect())
}

fn is_kind(word: &str) -> bool {
    matches!(
        snake(word).as_str(),
        "tool_call" | "workflow" | "tool" | "call"
    )
}

fn steps(action: &Object) -> Result<Value, Refusal> {
    let steps = [
        "workflow_steps",
        "steps",
        "workflow",
        "plan",
        "execution_plan",
    ];
    let given = find(action, &steps).and_then(|key| action.get(&key).cloned());
    match given {
        Some(Value::String(text)) => match json::parse_in_text(&text) {
            Some(steps) => Ok(steps),
            None => refuse(
                "action.workflowSteps",
                "`workflowSteps` is not a list of steps",
            ),
        },
        Some(steps @ (Value::Array(_) | Value::Object(_))) => Ok(steps),
        Some(_) => refuse(
            "action.workflowSteps",
            "`workflowSteps` is not a list of steps",
        ),
        None => Ok(json!([single(action)])),
    }
}

fn single(action: &Object) -> Value {
    let call = action.iter().filter(|(key, value)| {
        let kind = snake(key) == "type" && value.as_str().is_some_and(is_kind);
        !kind
    });
    Value::Object(
        call.map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
    )
}

/// Makes every call retry, unless the step sets its own `on_error`; returns problems with the steps.
fn harden(plan: &mut Value) -> Vec<Problem> {
    let problem = |field: String, message: &str| {
        Problem::new(field, message).hint("each step is `{\"toolName\": …, \"parameters\": {…}}`")
    };
    let Some(steps) = plan.as_array_mut().filter(|steps| !steps.is_empty()) else {
        return vec![problem("action".to_owned(), "the job has no calls")];
    };
    let mut problems = Vec::new();
    for (at, step) in steps.iter_mut().enumerate() {
        let tool = step.get("toolName").and_then(Value::as_str);
        if tool.is_none_or(|tool| tool.trim().is_empty()) {
            let field = format!("action.workflowSteps[{at}]");
            problems.push(problem(field, "the step has no `toolName`"));
        }
        if let Some(step) = step.as_object_mut() {
            step.entry("on_error").or_insert(json!(ON_ERROR));
        }
    }
    problems
}
