//! Which commands an agent may write, where its skills are named (S2.60): those skills, and the tools
//! that it is offered, which are commands to a model that has no other way to call them.
//!
//! Not here: whether there is such a skill, its flags, its page; whoever resolves commands knows.

use deft_command::{Routed, route, split};

use super::words;
use crate::action::Resolved;
use crate::setup::{Offer, Setup};

/// What there is to say about a command without looking it up: that it names a skill outside of what
/// the agent may use, or which ones those are. `None` when it may be looked up.
pub(super) fn allowed(setup: &Setup, line: &str) -> Option<Resolved> {
    let skills = setup.skills.as_deref()?;
    let name = match named(line) {
        // Which of its skills have a tag is for the resolver to say.
        Named::Topic(topic) if topic.starts_with("tag:") || topic.starts_with('#') => return None,
        Named::Skill(name) | Named::Topic(name) => name,
        Named::All => return Some(Resolved::Text(words::skills(&names(setup, skills)))),
        Named::Unreadable => return None,
    };
    let offered = |offer: &Offer| offer.spec.name == name || offer.tool == name;
    let known = skills.contains(&name) || setup.tools.iter().any(offered);
    (!known).then(|| Resolved::Refused(words::not_allowed(&name, &names(setup, skills))))
}

fn names<'a>(setup: &'a Setup, skills: &'a [String]) -> Vec<&'a str> {
    let tools = setup.tools.iter().map(|offer| offer.spec.name.as_str());
    skills.iter().map(String::as_str).chain(tools).collect()
}

enum Named {
    Skill(String),
    /// What `get_skill` is asked for.
    Topic(String),
    /// `get_skill` alone.
    All,
    /// Whoever resolves it says what is wrong.
    Unreadable,
}

fn named(line: &str) -> Named {
    let Some(Ok(line)) = split(line).into_iter().next() else {
        return Named::Unreadable;
    };
    // Without flags nothing but the name is read.
    let name_only = deft_command::Line {
        words: line.words.iter().take(1).cloned().collect(),
        ..line.clone()
    };
    match (
        route(&line, |_| Ok(Vec::new())),
        route(&name_only, |_| Ok(Vec::new())),
    ) {
        (Ok(Routed::GetSkill { topic }), _) if topic.is_empty() => Named::All,
        (Ok(Routed::GetSkill { topic }), _) => Named::Topic(topic),
        (_, Ok(Routed::Command(command))) => Named::Skill(command.skill_name),
        _ => Named::Unreadable,
    }
}
