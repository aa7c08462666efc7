//! The `skill` tool with which a model loads skills (S4.11 to S4.14).

use std::cmp::Reverse;

use deft_model::{Agent, Skill, ToolSpec};
use deft_skillfile::render;
use serde_json::json;

use super::entries::may_use;
use super::listing::escape;
use super::{offered_skills, one_line};
use crate::snapshot::Snapshot;

/// Returns the tool with all skills. `None` without skills, because a tool without choices confuses models.
pub fn skill_tool(snapshot: &Snapshot) -> Option<ToolSpec> {
    let skills = offered_skills(snapshot)
        .map(|loaded| &loaded.skill)
        .collect();
    spec(skills, &[], line, usize::MAX)
}

/// A skill provided by an MCP server. Its id contains the name of the server.
#[derive(Clone, Copy, Debug)]
pub struct ServedSkill<'a> {
    /// The name that a model passes to load the skill.
    pub id: &'a str,
    /// The name of the server.
    pub server: &'a str,
    /// The purpose, as described by the server.
    pub description: &'a str,
}

/// Renders the list entry of a server's skill. It contains the server, so that the skill is not mistaken for
/// a local one.
pub fn served_line(id: &str, server: &str, description: &str) -> String {
    format!(
        "  <skill name=\"{}\" from=\"server {}\">{}</skill>\n",
        escape(id),
        escape(server),
        escape(&one_line(description))
    )
}

/// Returns the tool for an agent: with the skills that the agent may use and that are available, then those
/// of servers. If `max_chars` is too small for all, the least important skills are left out. Playbooks appear
/// only by name. `None` if there are no skills (S4.14).
pub fn skill_tool_spec(
    snapshot: &Snapshot,
    served: &[ServedSkill<'_>],
    agent: &Agent,
    is_available: impl Fn(&Skill) -> bool,
    max_chars: usize,
) -> Option<ToolSpec> {
    let skills = offered_skills(snapshot).map(|loaded| &loaded.skill);
    let skills = skills.filter(|skill| may_use(agent, skill) && is_available(skill));
    spec(skills.collect(), served, short_line, max_chars)
}

/// Builds the tool. The enumeration of names contains exactly the names shown to the model, so left-out
/// skills are not in it either.
fn spec(
    mut skills: Vec<&Skill>,
    served: &[ServedSkill<'_>],
    line: Line,
    max_chars: usize,
) -> Option<ToolSpec> {
    if skills.is_empty() && served.is_empty() {
        return None;
    }
    let left_out = shorten(&mut skills, line, max_chars);
    let others = served.iter();
    let others = others.map(|it| served_line(it.id, it.server, it.description));
    let list: String = skills
        .iter()
        .map(|skill| line(skill))
        .chain(others)
        .collect();
    let ids = skills.iter().map(|skill| skill.id.as_str());
    let ids: Vec<&str> = ids.chain(served.iter().map(|it| it.id)).collect();
    let mut note = match left_out {
        0 => String::new(),
        1 => " 1 more skill is not listed; use get_skill to find it.".to_owned(),
        many => format!(" {many} more skills are not listed; use get_skill to find them."),
    };
    if skills.iter().any(|skill| line(skill).is_empty()) {
        note.push_str(" The other names are playbooks, which load by themselves.");
    }
    Some(ToolSpec {
        name: "skill".to_owned(),
        description: format!(
            "Load and invoke a specialized skill. <skills>\n{list}</skills>{note}"
        ),
        schema: json!({
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
        }),
    })
}

/// Renders the list entry of a skill.
type Line = fn(&Skill) -> String;

fn line(skill: &Skill) -> String {
    format!(
        "  <skill name=\"{}\">{}</skill>\n",
        escape(skill.id.as_str()),
        escape(&skill.description)
    )
}

/// Renders a short list entry, used where every request to a model pays for it. A playbook has none: it is
/// loaded automatically when a message matches, so its name in the enumeration suffices.
fn short_line(skill: &Skill) -> String {
    if skill.keywords.is_empty() {
        return line(skill);
    }
    String::new()
}

/// Keeps the most important skills that fit, at least one, and sorts them by id. Returns the number of
/// removed skills.
fn shorten(skills: &mut Vec<&Skill>, line: Line, max_chars: usize) -> usize {
    let size = |skill: &Skill| line(skill).chars().count();
    if skills.iter().map(|skill| size(skill)).sum::<usize>() <= max_chars {
        return 0;
    }
    let count = skills.len();
    skills.sort_by_key(|skill| (Reverse(skill.priority), skill.id.clone()));
    let mut used = 0;
    let fitting = skills.iter().take_while(|skill| {
        used += size(skill);
        used <= max_chars
    });
    let kept = fitting.count().max(1);
    skills.truncate(kept);
    skills.sort_by(|a, b| a.id.cmp(&b.id));
    count - kept
}

/// Handles a call of the tool: returns the text of the skill, or an error message for the model.
pub fn load_skill(snapshot: &Snapshot, skill_name: &str) -> String {
    let mut skills = offered_skills(snapshot).map(|loaded| &loaded.skill);
    match skills.find(|skill| skill.id.as_str() == skill_name) {
        Some(skill) => render::manual(skill),
        None => format!(
            "Error: Skill '{skill_name}' not found. It may have been removed or is unavailable."
        ),
    }
}
