//! The tools that a message needs, as far as that can be determined without a model.
//!
//! These are: a few that nearly every conversation needs; those that the matching playbooks require or, if
//! they require none, mention; those recently used in the conversation; and those with names close to the
//! message. All other tools have to be looked up.
//!
//! Not here: what an agent may use (`allowed_tools.rs`), how tools are described (`offers.rs`).

use deft_agent::{CATALOG_TOOL, Classification, prompt};
use deft_library::Entries;
use deft_model::Message;
use deft_registry::Snapshot;
use deft_tools::{RemoteSkill, ToolInfo};

use crate::offers::{is_called, to_wire_name};
use crate::tool_names::{DISPATCH_AGENT, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL};

/// A message with its context.
pub(super) struct MessageContext<'a> {
    pub(super) message: &'a str,
    pub(super) playbooks: &'a Classification,
    pub(super) history: &'a [Message],
    pub(super) entries: &'a Entries,
    /// The skills of servers that are among the entries.
    pub(super) served: &'a [RemoteSkill],
}

/// Maximum number of tools offered because their names are close to the message.
const MAX_CLOSE_MATCHES: usize = 3;

/// Maximum number of tools offered again because they were used before.
const MAX_USED_TOOLS: usize = 8;

/// Returns the tools that a chat always has: those for skills, and for finding all other tools. The tools
/// that run and delegate commands are included only if there are commands.
pub(super) fn core(entries: &Entries) -> Vec<&'static str> {
    let commands = !entries.domains.is_empty() || !entries.commands.is_empty();
    // `get_skill` also reads the files of servers' skills; only their ids contain a slash.
    let files = entries.skills.iter().any(|entry| entry.name.contains('/'));
    let for_commands = [GET_SKILL, USE_SKILL, DISPATCH_AGENT].into_iter();
    let for_commands = for_commands.filter(|tool| commands || (files && *tool == GET_SKILL));
    let always = [SKILL, CATALOG_TOOL, SKILL_RUN];
    always.into_iter().chain(for_commands).collect()
}

/// Returns the router names of further tools that a message needs.
pub(super) fn needed_tools(
    context: &MessageContext<'_>,
    snapshot: &Snapshot,
    all: &[ToolInfo],
) -> Vec<String> {
    let mut needed = tools_named_in_playbooks(context.playbooks, snapshot, all);
    needed.extend(used_tools(context.history, all));
    let names = all.iter().map(|info| info.shown.as_str());
    let close = prompt::closest(names, context.message);
    needed.extend(close.into_iter().take(MAX_CLOSE_MATCHES));
    needed
}

/// Returns the tools that matching playbooks mention, if they do not declare their tools.
fn tools_named_in_playbooks(
    playbooks: &Classification,
    snapshot: &Snapshot,
    all: &[ToolInfo],
) -> Vec<String> {
    let mut tools_named_in_playbooks = Vec::new();
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
        tools_named_in_playbooks.extend(tools.map(|info| info.shown.clone()));
    }
    tools_named_in_playbooks
}

/// Returns the tools that were called in a conversation, the latest first.
fn used_tools(history: &[Message], all: &[ToolInfo]) -> Vec<String> {
    let mut used: Vec<String> = Vec::new();
    for message in history.iter().rev() {
        let Message::Assistant { calls, .. } = message else {
            continue;
        };
        for call in calls {
            let named = |info: &&ToolInfo| {
                is_called(info, &call.name) || to_wire_name(&info.shown) == call.name
            };
            let tool = all.iter().find(named).map(|info| info.shown.clone());
            used.extend(tool.filter(|tool| !used.contains(tool)));
        }
    }
    used.truncate(MAX_USED_TOOLS);
    used
}
