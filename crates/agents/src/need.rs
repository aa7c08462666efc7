//! Which tools a message needs, as far as that can be seen without asking a model.
//!
//! A few that nearly every conversation needs; those that playbooks force or, where they force none,
//! speak of; those that were used in the conversation lately; and those whose names come close to the
//! message. Everything else is looked up.
//!
//! Not here: what an agent may use (`chat.rs`), how tools are described (`offers.rs`).

use deft_agent::{CATALOG_TOOL, Classification, prompt};
use deft_library::Entries;
use deft_model::Message;
use deft_registry::Snapshot;
use deft_tools::{RemoteSkill, ToolInfo};

use crate::offers::{is_called, on_the_wire};
use crate::tool_names::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};

/// What a message comes with.
pub(super) struct Occasion<'a> {
    pub(super) message: &'a str,
    pub(super) playbooks: &'a Classification,
    pub(super) history: &'a [Message],
    pub(super) entries: &'a Entries,
    /// The skills of servers among the entries.
    pub(super) served: &'a [RemoteSkill],
}

/// How many tools are offered because their names are close to the message.
const MOST_CLOSE: usize = 3;

/// How many tools are offered again because they were used before.
const MOST_USED: usize = 8;

/// What a chat always has: ways to skills, and to all other tools. Commands are run and delegated only
/// where there are some.
pub(super) fn core(entries: &Entries) -> Vec<&'static str> {
    let commands = !entries.domains.is_empty() || !entries.commands.is_empty();
    // Files of skills that servers offer are read with it too; only their ids have a slash.
    let files = entries.skills.iter().any(|entry| entry.name.contains('/'));
    let for_commands = [GET_SKILL, USE_SKILL, DISPATCH_AGENT].into_iter();
    let for_commands = for_commands.filter(|tool| commands || (files && *tool == GET_SKILL));
    let always = [SKILL, CATALOG_TOOL, SKILL_RUN];
    always.into_iter().chain(for_commands).collect()
}

/// The tools that a message needs beyond those, by their names in the router.
pub(super) fn needed_tools(
    occasion: &Occasion<'_>,
    snapshot: &Snapshot,
    all: &[ToolInfo],
) -> Vec<String> {
    let mut needed = spoken_of(occasion.playbooks, snapshot, all);
    needed.extend(used(occasion.history, all));
    let names = all.iter().map(|info| info.shown.as_str());
    let close = prompt::closest(names, occasion.message);
    needed.extend(close.into_iter().take(MOST_CLOSE));
    needed
}

/// What matched playbooks speak of, where they do not say themselves which tools they need.
fn spoken_of(playbooks: &Classification, snapshot: &Snapshot, all: &[ToolInfo]) -> Vec<String> {
    let mut spoken_of = Vec::new();
    for found in playbooks
        .matched
        .iter()
        .filter(|found| found.tools.is_empty())
    {
        let skill = snapshot.find(&found.id).map(|loaded| &loaded.skill);
        let Some(text) = skill.and_then(|skill| skill.text()) else {
            continue;
        };
        let text = text.read();
        // In prose, `log` may be any log; in backticks it is the tool.
        let in_text = |info: &&ToolInfo| {
            let names = [&info.shown, &info.name, &info.full_name()];
            names.iter().any(|name| text.contains(&format!("`{name}`")))
        };
        let tools = all.iter().filter(in_text);
        spoken_of.extend(tools.map(|info| info.shown.clone()));
    }
    spoken_of
}

/// What was called in a conversation, the latest first.
fn used(history: &[Message], all: &[ToolInfo]) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for message in history.iter().rev() {
        let Message::Assistant { calls, .. } = message else {
            continue;
        };
        for call in calls {
            let named = |info: &&ToolInfo| {
                is_called(info, &call.name) || on_the_wire(&info.shown) == call.name
            };
            let tool = all.iter().find(named).map(|info| info.shown.clone());
            used.extend(tool.filter(|tool| !used.contains(tool)));
        }
    }
    used.truncate(MOST_USED);
    used
}
