//! What a page names as its `handler`.
//!
//! Names only. Not here: the handlers themselves, and whether a tool or a skill exists, which is
//! known when it is called.

use crate::problem::{Problem, ProblemKind};

/// Who carries a command out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Handler {
    /// `tool:NAME`: a tool takes the flags as its arguments.
    Tool(String),
    /// `workflow:NAME` or `skill:NAME`: another skill takes them as its inputs.
    Skill(String),
    /// Code of deft, named as the skill is: `email.send`.
    BuiltIn(String),
}

/// Reads the `handler` of a page.
pub fn parse_handler(text: &str) -> Handler {
    let text = text.trim();
    match text.split_once(':') {
        Some(("tool", name)) => Handler::Tool(name.trim().to_owned()),
        Some(("workflow" | "skill", name)) => Handler::Skill(name.trim().to_owned()),
        _ => Handler::BuiltIn(module(text).unwrap_or_else(|| text.to_owned())),
    }
}

/// Whether the handler can be meant. `built_in` are the handlers that there are.
pub fn check_handler(handler: &Handler, built_in: &[&str]) -> Result<(), Problem> {
    let empty = |of| Err(ProblemKind::EmptyHandler { of }.into());
    match handler {
        Handler::Tool(name) if name.is_empty() => empty("tool"),
        Handler::Skill(name) if name.is_empty() => empty("skill"),
        Handler::BuiltIn(name) if !built_in.contains(&name.as_str()) => {
            Err(ProblemKind::UnknownHandler {
                name: name.clone(),
                known: built_in.iter().map(|name| (*name).to_owned()).collect(),
            }
            .into())
        }
        Handler::Tool(_) | Handler::Skill(_) | Handler::BuiltIn(_) => Ok(()),
    }
}

/// Whether a skill only reads, going by the last part of its name (S2.58). For skills that do not
/// declare their effects: a name is a guess, and a wrong one must be on the safe side.
pub fn reads_only(skill: &str) -> bool {
    let action = skill.rsplit_once('.').map(|(_, action)| action);
    matches!(action, Some("search" | "get" | "list" | "read"))
}

/// The seeds name handlers as modules, `Assistant.Skills.Email.Send`; ours are named as the skill
/// is, by the last two parts.
fn module(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split('.').collect();
    let is_module = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let [.., domain, action] = parts.as_slice() else {
        return None;
    };
    let all = parts.iter().all(is_module);
    all.then(|| format!("{}.{}", snake(domain), snake(action)))
}

/// `ContactList` is `contact_list`, `HTTPGet` is `http_get`.
fn snake(part: &str) -> String {
    let characters: Vec<char> = part.chars().collect();
    let mut out = String::new();
    for (at, c) in characters.iter().enumerate() {
        let behind_small = at > 0 && !characters[at - 1].is_uppercase();
        let before_small = characters.get(at + 1).is_some_and(|c| c.is_lowercase());
        if c.is_uppercase() && at > 0 && (behind_small || before_small) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out.replace("__", "_")
}
