//! The reach of an agent in a chat: what it may use, and which of it is offered with the first request.
//!
//! Not here: which tools a message needs (`need.rs`), how they are described (`offers.rs`), the exact tools
//! of a fired skill (`prepare.rs`).

use deft_agent::{Mode, Offer, ShelfTool};
use deft_model::{Agent, Skill, fits};
use deft_registry::discovery::ServedSkill;
use deft_registry::{Snapshot, discovery};
use deft_tools::{RemoteSkill, ToolInfo};

use crate::model_choice::ChosenModel;
use crate::need::MessageContext;
use crate::tool_names::{
    AgentTool, DISPATCH_AGENT, FOR_COMMANDS, GET_SKILL, SKILL, SKILL_RUN, USE_SKILL,
};
use crate::{Agents, need, offers};

/// Maximum number of characters of the list of skills in the `skill` tool.
const SKILL_TOOL_CHARS: usize = 12_000;

/// The tools and skills that an agent may use.
pub(super) struct AllowedTools {
    pub(super) tools: Vec<Offer>,
    /// Tools on the shelf, offered after the agent looks them up.
    pub(super) shelf: Vec<ShelfTool>,
    pub(super) skills: Option<Vec<String>>,
    /// Tools that there was no room for.
    pub(super) left_out: Vec<String>,
    /// Names and patterns of all tools that the agent may use; `None` means all.
    pub(super) limit: Option<Vec<String>>,
}

/// The pattern that matches every name.
const EVERYTHING: &str = "*";

/// The tools through which an agent uses its skills.
const OWN: [&str; 5] = [SKILL, GET_SKILL, USE_SKILL, SKILL_RUN, DISPATCH_AGENT];

/// The selection of tools for a chat.
struct Plan {
    /// Names and patterns of further tools that it may use.
    may_use: Vec<String>,
    /// Names and patterns of tools that are offered.
    offered: Vec<String>,
    /// Tools that come first.
    first: Vec<String>,
    /// Number of the first tools that are kept even if there is little room.
    keep: usize,
}

impl Plan {
    /// Returns names and patterns of all tools that the agent may use; `None` means all.
    fn limit(&self) -> Option<Vec<String>> {
        let patterns = self.may_use.iter().chain(&self.offered);
        let names: Vec<String> = patterns.chain(&self.first).cloned().collect();
        (!names.iter().any(|name| name == EVERYTHING)).then_some(names)
    }
}

impl Agents {
    /// Returns what an agent may use in a chat, and the names of tools that it is not always offered.
    pub(super) fn tools_for_chat(
        &self,
        chosen: &ChosenModel,
        snapshot: &Snapshot,
        context: &MessageContext<'_>,
    ) -> (AllowedTools, Vec<String>) {
        let agent = &chosen.agent;
        let without = not_for(chosen);
        let all = self.router.list();
        let patterns = agent.tools.as_ref().unwrap_or(&self.options.tools);
        let needed = patterns.iter().any(|pattern| pattern == Agent::NEEDED);
        let room = self.options.offer_tokens.min(chosen.tool_tokens);
        let few = || offers::are_few(&all, &without, room);
        let plan = if needed && !few() {
            as_needed(patterns, snapshot, context, &all)
        } else {
            // The order of tools is constant as long as all of them fit, so that a provider can cache them.
            let limited = chosen.tool_tokens < u64::MAX;
            let tight = limited && !offers::are_few(&all, &without, chosen.tool_tokens);
            let needed = || need::needed_tools(context, snapshot, &all);
            all_at_once(patterns, context, tight.then(needed))
        };
        let approve = self.approvals(agent);
        let selection = offers::ToolSelection {
            may_use: &plan.may_use,
            offered: &plan.offered,
            first: &plan.first,
            without: &without,
            approve: &approve,
        };
        let mut choice = offers::apply_selection(all, &selection);
        let chars = chosen.skill_chars(SKILL_TOOL_CHARS);
        offer_skill_tool(&mut choice.tools, snapshot, agent, context, chars);
        let no_room = offers::fit(&mut choice.tools, chosen.tool_tokens, plan.keep);
        let left_out = no_room.iter().map(|shelved| shelved.tool.clone()).collect();
        // The `skill` tool lists the skills of its own agent, so it cannot be described by a lookup.
        let again = no_room.into_iter().filter(|shelved| shelved.tool != SKILL);
        choice.shelf.extend(again);
        let others = others(&choice, &plan, context);
        let allowed = AllowedTools {
            tools: choice.tools,
            shelf: choice.shelf,
            skills: skills_of(agent, snapshot, context.served),
            left_out,
            limit: plan.limit(),
        };
        (allowed, others)
    }
}

/// Offers what a message needs and what the patterns name besides `needed`; all other tools can be looked up.
fn as_needed(
    patterns: &[String],
    snapshot: &Snapshot,
    context: &MessageContext<'_>,
    all: &[ToolInfo],
) -> Plan {
    let playbooks = context.playbooks;
    let core = need::core(context.entries).into_iter();
    let mut first: Vec<String> = core.chain(playbooks.tools()).map(str::to_owned).collect();
    let keep = first.len();
    first.extend(need::needed_tools(context, snapshot, all));
    Plan {
        may_use: vec![EVERYTHING.to_owned()],
        offered: named_patterns(patterns),
        first,
        keep,
    }
}

/// Offers all that the patterns name. If there is little room, `needed` tools come first, because the last
/// ones are dropped.
fn all_at_once(
    patterns: &[String],
    context: &MessageContext<'_>,
    needed: Option<Vec<String>>,
) -> Plan {
    let mut offered = named_patterns(patterns);
    if patterns.iter().any(|pattern| pattern == Agent::NEEDED) {
        offered.push(EVERYTHING.to_owned());
    }
    let forced = context.playbooks.tools();
    let keep = forced.len();
    let first = forced.into_iter().chain(OWN).map(str::to_owned);
    let mut first: Vec<String> = first.collect();
    let is_named = |tool: &String| offered.iter().any(|pattern| fits(pattern, tool));
    first.extend(needed.unwrap_or_default().into_iter().filter(is_named));
    Plan {
        may_use: Vec::new(),
        offered,
        first,
        keep,
    }
}

/// Returns the patterns without `needed` and without the agent's own tools, which follow from its skills.
fn named_patterns(patterns: &[String]) -> Vec<String> {
    let mut named = patterns.to_vec();
    named.retain(|pattern| pattern != Agent::NEEDED && !OWN.contains(&pattern.as_str()));
    named
}

/// Returns the tools that an agent does not get: tools for skills if it may use none, and tools that call
/// commands if it is in command mode.
fn not_for(chosen: &ChosenModel) -> Vec<&'static str> {
    let mut without: Vec<&str> = Vec::new();
    if !chosen.agent.allow_skills {
        without.extend(AgentTool::ALL.iter().map(|tool| tool.name()));
    }
    if chosen.mode == Mode::Cmd {
        without.extend(FOR_COMMANDS);
    }
    without
}

/// Returns the names of tools that are offered depending on the message. Currently offered ones are listed
/// too, so that the list is the same for every message.
fn others(choice: &offers::Choice, plan: &Plan, context: &MessageContext<'_>) -> Vec<String> {
    let mut names: Vec<String> = choice.shelf.iter().map(|it| it.name.clone()).collect();
    if !plan.may_use.is_empty() {
        let core = need::core(context.entries);
        let always = |tool: &str| {
            let mut patterns = plan.offered.iter();
            core.contains(&tool) || patterns.any(|pattern| fits(pattern, tool))
        };
        let coming = choice.tools.iter().filter(|offer| !always(&offer.tool));
        names.extend(coming.map(|offer| offer.spec.name.clone()));
    }
    names.sort();
    names
}

/// Returns the skills that an agent may name; `None` means all.
fn skills_of(agent: &Agent, snapshot: &Snapshot, served: &[RemoteSkill]) -> Option<Vec<String>> {
    if !agent.allow_skills {
        return Some(Vec::new());
    }
    agent.skills.as_ref()?;
    let all = snapshot.skills().map(|loaded| &loaded.skill);
    let may_use =
        all.filter(|skill| agent.may_use_skill(skill.id.as_str(), skill.domain.as_deref()));
    let may_use = may_use.map(|skill| skill.id.to_string());
    Some(may_use.chain(served.iter().map(RemoteSkill::id)).collect())
}

/// Completes the `skill` tool with the skills that can be loaded (S4.11), or removes it if there are none
/// (S4.14). Skills that are disabled or wait for their tools are left out; playbooks are included.
fn offer_skill_tool(
    tools: &mut Vec<Offer>,
    snapshot: &Snapshot,
    agent: &Agent,
    context: &MessageContext<'_>,
    chars: usize,
) {
    let Some(at) = tools.iter().position(|offer| offer.tool == SKILL) else {
        return;
    };
    let is_available = |skill: &Skill| {
        let mut listed = context.entries.skills.iter();
        !skill.keywords.is_empty() || listed.any(|entry| *entry.name == *skill.id.as_str())
    };
    let ids: Vec<String> = context.served.iter().map(RemoteSkill::id).collect();
    let served: Vec<_> = (context.served.iter().zip(&ids))
        .map(|(skill, id)| ServedSkill {
            id,
            server: &skill.server,
            description: skill.description(),
        })
        .collect();
    match discovery::skill_tool_spec(snapshot, &served, agent, is_available, chars) {
        Some(spec) => tools[at].spec = spec,
        None => drop(tools.remove(at)),
    }
}
