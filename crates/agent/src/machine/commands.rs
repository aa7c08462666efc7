//! The commands that an agent with a list of skills may write (S2.60): those skills, and the tools that it is
//! offered, because a model in command mode has no other way to call them.
//!
//! Not here: whether such a skill exists, its flags, its page; those belong to the resolver of commands.

use deft_command::{Route, route, split};

use super::words;
use crate::request::Resolution;
use crate::setup::{Offer, Setup};

/// Resolves a command that needs no lookup: it is refused if it names a skill that the agent may not use, and
/// `get_skill` alone lists the skills of the agent. `None` if the command may be looked up.
pub(super) fn resolve_without_lookup(setup: &Setup, line: &str) -> Option<Resolution> {
    let skills = setup.skills.as_deref()?;
    let name = match command_target(line) {
        // The resolver filters the agent's skills by tag.
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
    /// The topic of `get_skill`.
    Topic(String),
    /// `get_skill` alone.
    All,
    /// The resolver reports the problem.
    Unreadable,
}

fn command_target(line: &str) -> CommandTarget {
    let Some(Ok(line)) = split(line).into_iter().next() else {
        return CommandTarget::Unreadable;
    };
    // The flags are dropped, so that only the name is parsed.
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
