//! Tools on the shelf: an agent may use them but is offered them only after it looks them up.
//!
//! A search of the catalog offers the tools it found, from the next turn on. A call of a tool that is still
//! on the shelf is not made: the model gets the description and can call the tool then. The description is
//! requested once and recorded, so a replay offers the same.
//!
//! Not here: which tools are on the shelf (the engine prepares the agent), how the catalog is searched.

use serde_json::Value;

use super::state::{Agent, CallEnd, ModelCall, Target, Turn};
use super::{ordinal, words};
use crate::event::EventKind;
use crate::request::{Facts, Resolution};
use crate::setup::{Offer, ShelfTool};

/// Name in the router of the tool that lists tools.
pub const CATALOG_TOOL: &str = "get_tool_catalog";

/// Maximum number of tools offered to a model; providers refuse more than 128.
pub const MAX_OFFERED: usize = 120;

/// Takes the tools that the searches of a turn found off the shelf.
pub(super) fn offer_found_tools(
    agent: &Agent,
    turn: &Turn,
    facts: &dyn Facts,
) -> Option<EventKind> {
    if agent.setup.shelf.is_empty() {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for call in &turn.calls {
        if let (Some(Target::Tool { tool, args, .. }), Some(CallEnd::Value(value))) =
            (&call.target, call.end())
            && tool == CATALOG_TOOL
            // A list of the whole catalog is only an overview; offering all of it would defeat the shelf.
            && args.get("search").is_some_and(|search| !search.is_null())
        {
            names.extend(names_in_catalog(value));
        }
    }
    let shelf = agent.setup.shelf.iter();
    let wanted = shelf.filter(|it| names.contains(&it.tool.as_str()));
    offer_tools(agent, wanted, facts)
}

/// Returns the names in a result of the catalog, which groups them by server.
fn names_in_catalog(value: &Value) -> impl Iterator<Item = &str> {
    let groups = value["data"]["catalog"].as_object();
    let tools = groups.into_iter().flat_map(|groups| groups.values());
    let tools = tools.filter_map(Value::as_array).flatten();
    tools.filter_map(|tool| tool["name"].as_str())
}

/// Takes a called tool off the shelf.
pub(super) fn offer_called_tool(
    agent: &Agent,
    want: ModelCall<'_>,
    facts: &dyn Facts,
) -> Option<EventKind> {
    let name = match want {
        ModelCall::Call(call) => call.name.as_str(),
        ModelCall::Command(written) if written.problem.is_none() => want.first_word(),
        ModelCall::Command(_) | ModelCall::Stray(_) => return None,
    };
    let called = |it: &&ShelfTool| it.name == name || it.tool == name;
    offer_tools(agent, agent.setup.shelf.iter().filter(called), facts)
}

fn offer_tools<'a>(
    agent: &Agent,
    wanted: impl Iterator<Item = &'a ShelfTool>,
    facts: &dyn Facts,
) -> Option<EventKind> {
    let room = MAX_OFFERED.saturating_sub(agent.setup.tools.len());
    let tools = wanted.filter_map(|shelved| {
        Some(Offer {
            spec: facts.describe(shelved)?,
            tool: shelved.tool.clone(),
            approve: shelved.approve,
        })
    });
    let tools: Vec<Offer> = tools.take(room).collect();
    let turn = ordinal(agent.turns.len());
    (!tools.is_empty()).then_some(EventKind::Offered { turn, tools })
}

/// Returns the resolution of a call if its tool came off the shelf after the model was asked.
pub(super) fn resolve_late_tool(agent: &Agent, call: &str) -> Option<Resolution> {
    let name = call.split_whitespace().next().unwrap_or_default();
    let mut offers = agent.setup.tools.iter();
    let offer = offers.find(|offer| offer.spec.name == name || offer.tool == name)?;
    let this_turn = (offer.tool.clone(), agent.turns.len());
    let text = || words::describe_offer(offer, agent.setup.mode);
    agent
        .opened
        .contains(&this_turn)
        .then(|| Resolution::Described(text()))
}

impl Agent {
    /// Offers tools to the model from the next turn on.
    pub(super) fn open(&mut self, tools: &[Offer]) {
        let turn = self.turns.len();
        let setup = std::sync::Arc::make_mut(&mut self.setup);
        for offer in tools {
            setup.shelf.retain(|shelved| shelved.tool != offer.tool);
            setup.tools.push(offer.clone());
            self.opened.push((offer.tool.clone(), turn));
        }
        self.specs = setup.tools.iter().map(|it| it.spec.clone()).collect();
    }
}
