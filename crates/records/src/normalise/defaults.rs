//! Defaults derived from the rest of a record.

use deft_model::{Choice, DEFAULT_AGENT, Trigger, is_template};
use serde_json::{Value, json};

use super::Draft;
use super::fields::is_blank;
use super::plan::tools;
use crate::json;

/// Derives the trigger type from the timing and the keywords (S0.37).
pub(super) fn trigger_type(draft: &mut Draft<'_>) {
    let given = draft.record.get("trigger_type");
    let kind = match (
        draft.is_timed(),
        draft.record.contains_key("keywords"),
        given,
    ) {
        (true, _, _) => Trigger::Cron,
        (false, _, Some(_)) => return,
        (false, true, None) => Trigger::Event,
        (false, false, None) => Trigger::Manual,
    };
    // An unknown word is left for `check` to reject.
    let known = given.is_none_or(|given| {
        given
            .as_str()
            .is_some_and(|w| Trigger::from_word(w).is_some())
    });
    if known && given.and_then(Value::as_str) != Some(kind.word()) {
        let word = kind.word();
        let note = match given.and_then(Value::as_str) {
            // The record contradicts itself, so the note names the field that takes precedence.
            Some(other) => format!("set trigger_type to {word}: the timing overrides `{other}`"),
            None => format!("set trigger_type to {word}"),
        };
        draft.record.insert("trigger_type".to_owned(), word.into());
        draft.note(note);
    }
}

/// Removes a plan of several independent steps: a model runs it instead, with the tools of the plan (S0.49).
pub(super) fn lower_plan(draft: &mut Draft<'_>) {
    let Some(Value::Array(plan)) = draft.record.get("execution_plan") else {
        return;
    };
    let steps = plan.len();
    let sound = plan
        .iter()
        .all(|step| step.get("toolName").is_some_and(Value::is_string));
    if steps < 2 || !sound {
        return;
    }
    if plan.iter().any(requires_workflow) {
        draft.note(format!("kept the plan of {steps} steps as a workflow"));
        return;
    }
    let mut names = match draft.record.get("required_tools") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    for tool in tools(&draft.record) {
        if !names.contains(&json!(tool)) {
            names.push(json!(tool));
        }
    }
    json::take(&mut draft.record, "execution_plan");
    draft
        .record
        .insert("required_tools".to_owned(), Value::Array(names));
    draft.note(format!(
        "turned the plan of {steps} steps into an agent skill, because no step uses the result of another"
    ));
}

/// Whether a step requires a workflow: it uses another step's result, or sets `on_error` or `timeout`.
fn requires_workflow(step: &Value) -> bool {
    let on_error = step.get("on_error").and_then(Value::as_str);
    let tolerant = on_error.is_some_and(|word| word.trim() != "fail");
    tolerant || step.get("timeout").is_some() || has_markup(step)
}

fn has_markup(value: &Value) -> bool {
    match value {
        Value::String(text) => is_template(text),
        Value::Array(items) => items.iter().any(has_markup),
        Value::Object(object) => object.values().any(has_markup),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The agent of a record that names none (S0.40, X6).
pub(super) fn agent(draft: &mut Draft<'_>) {
    if !draft.record.contains_key("agent_id") {
        draft
            .record
            .insert("agent_id".to_owned(), json!(DEFAULT_AGENT));
        draft.note(format!("set agent_id to {DEFAULT_AGENT}"));
    }
}

/// Derives a description for listings from the instructions.
pub(super) fn description(draft: &mut Draft<'_>) {
    if draft.record.contains_key("description") {
        return;
    }
    let instructions = draft.record.get("instructions").and_then(Value::as_str);
    let line = instructions.and_then(first_sentence);
    // A blank description would be removed again.
    if let Some(line) = line.filter(|line| !is_blank(&json!(line))) {
        draft.record.insert("description".to_owned(), line.into());
        draft.note("took description from instructions");
    }
}

/// Returns the first sentence of a text, truncated if it is long.
pub(crate) fn first_sentence(text: &str) -> Option<String> {
    const LIMIT: usize = 120;
    let line = text.trim().lines().next()?.trim();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    let sentence = &line[..end];
    match sentence.char_indices().nth(LIMIT) {
        None => (!sentence.is_empty()).then(|| sentence.to_owned()),
        Some((cut, _)) => {
            let word = sentence[..cut].rfind(' ').unwrap_or(cut);
            Some(format!("{}…", &sentence[..word]))
        }
    }
}

/// Adds the preflight check that matches the name and tools of a skill (S0.70, S0.71, X20).
pub(super) fn preflight(draft: &mut Draft<'_>) {
    if draft.record.contains_key("preflight") {
        return;
    }
    let name = draft
        .record
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let name = name.to_lowercase();
    let required = draft.record.get("required_tools").and_then(Value::as_array);
    let needs = |tool: &str| required.is_some_and(|tools| tools.contains(&json!(tool)));
    let meeting = name.contains("meeting") || name.contains("prep");
    let (check, note) = if meeting && needs("gmail_list_events") {
        (json!({"calendar": "2h"}), "skip it when no event is near")
    } else if name.contains("email") && needs("gmail_get_new_emails") {
        (json!({"email": "new"}), "skip it when there is no new mail")
    } else {
        return;
    };
    draft.record.insert("preflight".to_owned(), check);
    draft.note(format!("chose preflight by its name: {note}"));
}
