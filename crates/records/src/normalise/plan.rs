//! Fixes for the execution plan: steps with alternative names, as text, as a single mapping, or in the format
//! of model APIs.
//!
//! Not here: whether a plan becomes a workflow; see `defaults`.

use deft_model::Object;
use serde_json::{Value, json};

use super::Draft;
use crate::json;
use crate::names::snake;

/// Converts `{"tool": …, "parameters": …}` at the root to a plan of one step.
pub(super) fn from_root(draft: &mut Draft<'_>) {
    if draft.record.contains_key("execution_plan") {
        return;
    }
    let find = |names: &[&str]| {
        let mut keys = draft.record.keys();
        keys.find(|key| names.contains(&snake(key).as_str()))
            .cloned()
    };
    let Some(tool) = find(&["tool_name", "tool"]) else {
        return;
    };
    let parameters = find(&["parameters", "params", "arguments", "args"]);
    let Some(name @ Value::String(_)) = json::take(&mut draft.record, &tool) else {
        return;
    };
    let Some(parameters) = parameters else {
        // Without arguments, the tool is assumed to be one that a model may use.
        draft
            .record
            .entry("required_tools")
            .or_insert(json!([name]));
        draft.note(format!("renamed {tool} to required_tools"));
        return;
    };
    let arguments = json::take(&mut draft.record, &parameters).unwrap_or_default();
    let step = json!({"toolName": name, "parameters": arguments});
    draft
        .record
        .insert("execution_plan".to_owned(), json!([step]));
    draft.note(format!("built execution_plan from {tool} and {parameters}"));
}

/// Converts every step to the form `{id, toolName, parameters}` (S0.3).
pub(super) fn shape(draft: &mut Draft<'_>) {
    let Some(plan) = draft.record.get_mut("execution_plan") else {
        return;
    };
    let mut notes = Vec::new();
    shape_steps(plan, &mut notes);
    draft.applied.extend(notes);
}

/// Like [`shape`], for a list of steps outside a record.
pub(crate) fn shape_steps(plan: &mut Value, notes: &mut Vec<String>) {
    if let Value::String(text) = plan {
        // A single name is a call without arguments.
        if !text.trim().is_empty() && !text.contains(char::is_whitespace) {
            *plan = json!([{"toolName": text}]);
            notes.push("converted execution_plan to a list".to_owned());
        }
    }
    if let Value::Object(object) = plan {
        let steps = ["steps", "workflowSteps", "workflow_steps", "plan"];
        let steps = steps
            .iter()
            .find_map(|key| object.get(*key).filter(|v| v.is_array()));
        *plan = steps.cloned().unwrap_or_else(|| json!([object]));
        notes.push("converted execution_plan to a list".to_owned());
    }
    let Value::Array(steps) = plan else {
        return;
    };
    for step in steps.iter_mut() {
        let name = step
            .as_str()
            .map(str::trim)
            .filter(|name| !name.contains(char::is_whitespace));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            *step = json!({"toolName": name});
            notes.push("converted execution_plan to a list of mappings".to_owned());
        }
    }
    let mut objects: Vec<&mut Object> = steps.iter_mut().filter_map(Value::as_object_mut).collect();
    for step in &mut objects {
        shape_step(step, notes);
    }
    add_ids(&mut objects, notes);
}

fn shape_step(step: &mut Object, notes: &mut Vec<String>) {
    open_function(step, notes);
    if let Some("function" | "tool_call" | "tool" | "tool_use" | "call") =
        step.get("type").and_then(Value::as_str)
    {
        json::take(step, "type");
        notes.push("left out type of a step".to_owned());
    }
    rename_keys(step, notes);
    step.retain(|key, value| {
        let kept = !(value.is_null() || key == "description");
        if !kept {
            notes.push(format!("left out {key} of a step"));
        }
        kept
    });
    if let Some(number) = step.get("id").and_then(json::text_of_scalar)
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        notes.push(format!("named step {number} step{number}"));
        step.insert("id".to_owned(), format!("step{number}").into());
    }
    read_parameters(step, notes);
    nest_parameters(step, notes);
}

/// Unwraps `{"function": {"name": …, "arguments": …}}`, the format of model APIs.
fn open_function(step: &mut Object, notes: &mut Vec<String>) {
    let call = step.get("function").and_then(Value::as_object);
    if let Some(call) = call.filter(|call| call.contains_key("name")).cloned() {
        json::take(step, "function");
        step.extend(call);
        notes.push("unwrapped function of a step".to_owned());
    }
}

const STEP: &[(&str, &[&str])] = &[
    ("id", &["step_id", "step", "order", "step_number", "index"]),
    (
        "toolName",
        &[
            "tool_name",
            "tool",
            "function",
            "function_name",
            "action",
            "call",
            "name",
        ],
    ),
    (
        "parameters",
        &[
            "params",
            "arguments",
            "args",
            "input",
            "inputs",
            "kwargs",
            "tool_input",
        ],
    ),
    ("on_error", &[]),
    ("timeout", &[]),
];

fn rename_keys(step: &mut Object, notes: &mut Vec<String>) {
    for (field, aliases) in STEP {
        if step.contains_key(*field) {
            continue;
        }
        let own = snake(field);
        let names = std::iter::once(own.as_str()).chain(aliases.iter().copied());
        let key = names.into_iter().find_map(|name| {
            let fits = |(key, value): &(&String, &Value)| {
                snake(key) == name && (*field != "toolName" || value.is_string())
            };
            step.iter().find(fits).map(|(key, _)| key.clone())
        });
        if let Some(key) = key {
            json::rename(step, &key, field);
            notes.push(format!("renamed {key} of a step to {field}"));
        }
    }
}

fn read_parameters(step: &mut Object, notes: &mut Vec<String>) {
    let Some(Value::String(text)) = step.get("parameters") else {
        return;
    };
    let held = match text.trim() {
        "" => Some(json!({})),
        text => json::parse_in_text(text),
    };
    if let Some(held) = held {
        step.insert("parameters".to_owned(), held);
        notes.push("read parameters of a step from a JSON string".to_owned());
    }
}

/// Moves arguments that are next to the tool's name into `parameters`.
fn nest_parameters(step: &mut Object, notes: &mut Vec<String>) {
    let own = |key: &str| STEP.iter().any(|(field, _)| *field == key);
    let strangers: Vec<String> = step.keys().filter(|key| !own(key)).cloned().collect();
    if strangers.is_empty() || step.contains_key("parameters") || !step.contains_key("toolName") {
        return;
    }
    let mut parameters = Object::new();
    for key in strangers {
        let value = json::take(step, &key).unwrap_or_default();
        parameters.insert(key, value);
    }
    step.insert("parameters".to_owned(), Value::Object(parameters));
    notes.push("re-nested parameters of a step".to_owned());
}

/// Adds unique ids to steps without one.
fn add_ids(steps: &mut [&mut Object], notes: &mut Vec<String>) {
    let given = |step: &&mut Object| step.get("id").and_then(json::text_of_scalar);
    let mut taken: Vec<String> = steps.iter().filter_map(given).collect();
    for (at, step) in steps.iter_mut().enumerate() {
        if step.get("id").is_some_and(|id| *id != "") {
            continue;
        }
        let mut number = at + 1;
        while taken.contains(&format!("step{number}")) {
            number += 1;
        }
        let id = format!("step{number}");
        json::take(step, "id");
        // The id comes first, where readers look for it.
        step.shift_insert(0, "id".to_owned(), id.as_str().into());
        notes.push(format!("named a step {id}"));
        taken.push(id);
    }
}

/// Returns the tools that a plan calls, without duplicates.
pub(crate) fn tools(record: &Object) -> Vec<String> {
    let steps = record.get("execution_plan").and_then(Value::as_array);
    let tool = |step: &Value| Some(step.get("toolName")?.as_str()?.trim().to_owned());
    let mut tools: Vec<String> = Vec::new();
    for tool in steps.into_iter().flatten().filter_map(tool) {
        if !tool.is_empty() && !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    tools
}
