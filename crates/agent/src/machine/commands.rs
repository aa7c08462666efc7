//! Which commands an agent may write, where its skills are named (S2.60): those skills, and the tools
//! that it is offered, which are commands to a model that has no other way to call them.
//!
//! Not here: whether there is such a skill, its flags, its page; whoever resolves commands knows.

use deft_command::{Route, route, split};

use super::words;
use crate::request::Resolution;
use crate::setup::{Offer, Setup};

/// What there is to say about a command without looking it up: that it names a skill outside of what
/// the agent may use, or which ones those are. `None` when it may be looked up.
pub(super) fn allowed(setup: &Setup, line: &str) -> Option<Resolution> {
    let skills = setup.skills.as_deref()?;
    let name = match named(line) {
        // Which of its skills have a tag is for the resolver to say.
        CommandTarget::Topic(topic) if topic.starts_with("tag:") || topic.starts_with('#') => {
            return None;
        }
        CommandTarget::Skill(name) | CommandTarget::Topic(name) => name,
        CommandTarget::All => return Some(Resolution::Text(words::skills(&names(setup, skills)))),
        CommandTarget::Unreadable => return None,
    };
    let offered = |offer: &Offer| offer.spec.name == name || offer.tool == name;
    let known = skills.contains(&name) || setup.tools.iter().any(offered);
    (!known).then(|| Resolution::Refused(words::not_allowed(&name, &names(setup, skills))))
}

fn names<'a>(setup: &'a Setup, skills: &'a [String]) -> Vec<&'a str> {
    let tools = setup.tools.iter().map(|offer| offer.spec.name.as_str());
    skills.iter().map(String::as_str).chain(tools).collect()
}

enum CommandTarget {
    Skill(String),
    /// What `get_skill` is asked for.
    Topic(String),
    /// `get_skill` alone.
    All,
    /// Whoever resolves it says what is wrong.
    Unreadable,
}

fn named(line: &str) -> CommandTarget {
    let Some(Ok(line)) = split(line).into_iter().next() else {
        return CommandTarget::Unreadable;
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
        (Ok(Route::GetSkill { topic }), _) if topic.is_empty() => CommandTarget::All,
        (Ok(Route::GetSkill { topic }), _) => CommandTarget::Topic(topic),
        (_, Ok(Route::Command(command))) => CommandTarget::Skill(command.skill_name),
        _ => CommandTarget::Unreadable,
    }
}
