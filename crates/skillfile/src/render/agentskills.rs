//! `SKILL.md` for the open format.

use deft_model::{Dialect, Object, Skill};
use serde_json::Value;

use super::emit;
use super::keys::{listed, policy, put, timing};
use super::manual::manual;

/// The skill as a `SKILL.md` that the reference validator takes: only keys of
/// the open format, and below `metadata` only texts. The folder must have the
/// skill's id as its name.
pub fn agentskills(skill: &Skill) -> String {
    let mut head = Object::new();
    put(&mut head, "name", skill.id.as_str());
    put(&mut head, "description", skill.description.clone());
    put(&mut head, "license", skill.open.license.clone());
    put(&mut head, "compatibility", skill.open.compatibility.clone());
    put(&mut head, "allowed-tools", skill.open.allowed_tools.clone());
    put(&mut head, "metadata", Value::Object(texts(metadata(skill))));
    let mut out = String::from("---\n");
    emit::mapping(&head, 0, &mut out);
    out.push_str("---\n\n");
    match (skill.dialect, skill.text()) {
        (_, Some(text)) => out.push_str(text.as_str()),
        (_, None) => out.push_str(&manual(skill)),
    }
    out.push('\n');
    out
}

/// What was below `metadata` already, and what deft knows besides.
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
    listed(skill, &mut ours);
    policy(&skill.policy, &mut ours);
    let mut all = skill.open.metadata.clone();
    all.extend(skill.extra.clone());
    all.extend(ours);
    all
}

/// The open format has only texts below `metadata`; anything else is written
/// as JSON in a text, which is read back as what it holds.
fn texts(object: Object) -> Object {
    let text = |value: Value| match value {
        Value::String(text) => Value::String(text),
        other => Value::String(other.to_string()),
    };
    object
        .into_iter()
        .map(|(key, value)| (key, text(value)))
        .collect()
}
