//! The `skill` tool that a model loads skills with (S4.11 to S4.14).

use deft_model::Skill;
use deft_skillfile::render;
use serde_json::{Value, json};

use super::listing::escape;
use super::offered;
use crate::snapshot::Snapshot;

/// The tool's name, description and parameters; `None` when there is nothing
/// to load, as a tool without choices only confuses.
pub fn skill_tool(snapshot: &Snapshot) -> Option<Value> {
    let skills: Vec<&Skill> = offered(snapshot).map(|loaded| &loaded.skill).collect();
    if skills.is_empty() {
        return None;
    }
    let mut list = String::from("<skills>\n");
    for skill in &skills {
        let line = format!(
            "  <skill name=\"{}\">{}</skill>\n",
            escape(skill.id.as_str()),
            escape(&skill.description)
        );
        list.push_str(&line);
    }
    list.push_str("</skills>");
    let ids: Vec<&str> = skills.iter().map(|skill| skill.id.as_str()).collect();
    Some(json!({
        "name": "skill",
        "description": format!("Load and invoke a specialized skill. {list}"),
        "parameters": {
            "type": "object",
            "properties": {
                "skill_name": {
                    "type": "string",
                    "enum": ids,
                    "description": "The name of the skill to load",
                },
            },
            "required": ["skill_name"],
            "additionalProperties": false,
        },
    }))
}

/// What a call of the tool returns: the skill's text, or a sentence that the
/// model can act on.
pub fn load_skill(snapshot: &Snapshot, skill_name: &str) -> String {
    match offered(snapshot).find(|loaded| loaded.skill.id.as_str() == skill_name) {
        Some(loaded) => render::manual(&loaded.skill),
        None => format!(
            "Error: Skill '{skill_name}' not found. It may have been removed or is unavailable."
        ),
    }
}
