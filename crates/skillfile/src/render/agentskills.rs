//! Rendering of a `SKILL.md` for the open format.

use deft_model::{Dialect, Object, Skill};
use serde_json::Value;

use super::emit;
use super::keys::{entries, put, timing};
use super::manual::manual;
use crate::fields::{DETAILS, METADATA, POLICY};

/// Renders a skill as a `SKILL.md` that the reference validator accepts: only keys of the open format, and
/// only texts below `metadata`. The folder must be named like the skill's id.
pub fn agentskills(skill: &Skill) -> String {
    let mut head = Object::new();
    put(&mut head, "name", skill.id.as_str());
    put(&mut head, "description", skill.description.clone());
    put(&mut head, "license", skill.open.license.clone());
    put(&mut head, "compatibility", skill.open.compatibility.clone());
    put(&mut head, "allowed-tools", allowed_tools(skill));
    put(&mut head, "metadata", Value::Object(texts(metadata(skill))));
    let mut out = String::from("---\n");
    emit::mapping(&head, 0, &mut out);
    out.push_str("---\n\n");
    match (skill.dialect, skill.text()) {
        (_, Some(text)) => out.push_str(&text.read()),
        (_, None) => out.push_str(&manual(skill)),
    }
    out.push('\n');
    out
}

/// Returns the existing entries below `metadata` together with deft's own fields.
fn metadata(skill: &Skill) -> Object {
    let mut ours = Object::new();
    if skill.dialect != Dialect::AgentSkills || skill.name != skill.id.as_str() {
        put(&mut ours, "title", skill.name.clone());
    }
    put(&mut ours, "keywords", skill.keywords.clone());
    let priority = (skill.priority != 0).then_some(skill.priority);
    put(&mut ours, "priority", priority);
    put(&mut ours, "required_tools", skill.required_tools.clone());
    timing(skill, &mut ours);
    ours.extend(entries(skill.details.entries()));
    ours.extend(entries(skill.policy.entries()));
    // If a key exists in both places, the one below `metadata` takes precedence.
    let given = skill.extra.iter().chain(&skill.open.metadata);
    let mut all: Object = given
        .filter(|(key, _)| !is_ours(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    all.extend(ours);
    all
}

/// Whether the skill itself holds the value of a key. The original entry may be outdated, or belong to
/// another host and be unreadable for deft.
fn is_ours(key: &str) -> bool {
    let mut known = [METADATA, DETAILS, POLICY].into_iter().flatten();
    known.any(|field| field.name == key)
}

/// Returns a text, or a list of strings as one text per line; the open format accepts nothing else.
fn allowed_tools(skill: &Skill) -> Option<Value> {
    let given = skill.open.allowed_tools.clone()?;
    let texts = |items: &[Value]| items.iter().all(Value::is_string);
    match &given {
        Value::String(_) => Some(given),
        Value::Array(items) if texts(items) => Some(given),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => Some(Value::String(other.to_string())),
    }
}

/// Converts values to texts, because the open format only has texts below `metadata`. Other values are
/// written as JSON, which is parsed when it is read.
fn texts(object: Object) -> Object {
    let text = |value: Value| match value {
        Value::String(text) => Value::String(text),
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => Value::String(emit::json(&other)),
    };
    object
        .into_iter()
        .map(|(key, value)| (key, text(value)))
        .collect()
}
