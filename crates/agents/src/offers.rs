//! The tools that an agent is offered, and their names on the wire.
//!
//! Providers accept letters, digits, `_` and `-`; names in the router contain dots. A model can only call the
//! names that it was given.

use std::collections::HashSet;

use deft_agent::{MAX_OFFERED, Offer, ShelfTool};
use deft_model::{Agent, Failure, FailureClass, Outage, ToolSpec, fits};
use deft_tools::{Router, ToolInfo, ToolLookup, relax_schema_types};

/// Maximum length of a name that every provider accepts.
const MAX_NAME_LEN: usize = 64;

/// Maximum number of tools offered at first. A few more may come off the shelf.
const MAX_TOOLS: usize = MAX_OFFERED - 20;

/// The tools that an agent is offered, and those that it is offered after it looks them up.
#[derive(Default)]
pub(crate) struct Choice {
    pub(crate) tools: Vec<Offer>,
    pub(crate) shelf: Vec<ShelfTool>,
}

/// The tools that an agent may use, and those of them that it is offered.
pub(crate) struct ToolSelection<'a> {
    /// Names and patterns of tools that it may use.
    pub(crate) may_use: &'a [String],
    /// Names and patterns of tools that it is offered.
    pub(crate) offered: &'a [String],
    /// Tools that it may use and is offered in any case, in this order.
    pub(crate) first: &'a [String],
    /// Tools that it never gets.
    pub(crate) without: &'a [&'a str],
    /// Names and patterns of tools that need an approval.
    pub(crate) approve: &'a [String],
}

/// Returns exactly the tools of a skill (S0.53). A missing tool blocks the run.
pub(crate) fn exactly(
    router: &Router,
    names: &[String],
    approve: &[String],
) -> Result<Vec<Offer>, Failure> {
    let mut offers = Offers::default();
    for name in names {
        match router.find(name) {
            ToolLookup::Tool(info) => offers.add(&info, name, approve),
            ToolLookup::Ambiguous(full) => return Err(ambiguous(name, &full)),
            ToolLookup::Missing { .. } | ToolLookup::Unknown { .. } => {
                return Err(absent(router, name));
            }
        }
    }
    Ok(offers.all)
}

/// Applies a selection: the first tools first, up to a limit, all others on the shelf.
pub(crate) fn apply_selection(mut all: Vec<ToolInfo>, selection: &ToolSelection<'_>) -> Choice {
    let place = |info: &ToolInfo| {
        selection
            .first
            .iter()
            .position(|name| is_called(info, name))
    };
    let fits = |patterns: &[String], info: &ToolInfo| {
        patterns
            .iter()
            .any(|pattern| matches_pattern(pattern, info))
    };
    all.retain(|info| {
        let allowed =
            place(info).is_some() || fits(selection.may_use, info) || fits(selection.offered, info);
        allowed && !selection.without.contains(&info.shown.as_str())
    });
    all.sort_by_key(|info| (place(info).unwrap_or(usize::MAX), info.full_name()));
    let (offered, shelved): (Vec<_>, Vec<_>) =
        (all.into_iter()).partition(|info| place(info).is_some() || fits(selection.offered, info));
    let too_many = offered.iter().skip(MAX_TOOLS);
    let mut offers = Offers::default();
    for info in offered.iter().take(MAX_TOOLS) {
        offers.add(info, &info.shown, selection.approve);
    }
    let shelf = shelved.iter().chain(too_many);
    let shelf = shelf.map(|info| offers.shelve(info, selection.approve));
    Choice {
        shelf: shelf.collect(),
        tools: offers.all,
    }
}

/// Returns the current description of a tool, under the name that a model has for it.
pub(crate) fn describe_tool(router: &Router, shelved: &ShelfTool) -> Option<ToolSpec> {
    match router.find(&shelved.tool) {
        ToolLookup::Tool(info) => Some(spec(&info, shelved.name.clone())),
        ToolLookup::Ambiguous(_) | ToolLookup::Missing { .. } | ToolLookup::Unknown { .. } => None,
    }
}

fn spec(info: &ToolInfo, name: String) -> ToolSpec {
    ToolSpec {
        name,
        description: info.description.clone(),
        schema: relax_schema_types(&info.input_schema),
    }
}

/// Whether the descriptions of all tools that an agent may use take at most `most` tokens.
pub(crate) fn are_few(all: &[ToolInfo], without: &[&str], most: u64) -> bool {
    let all = all.iter();
    let mut for_it = all.filter(|info| !without.contains(&info.shown.as_str()));
    let taken = for_it.try_fold(0_u64, |taken, info| {
        let taken = taken + spec(info, String::new()).tokens();
        (taken <= most).then_some(taken)
    });
    taken.is_some()
}

/// Drops tools for which a model has no room, the last ones first, but keeps the first `keep` tools in any
/// case. Returns the dropped tools.
pub(crate) fn fit(offers: &mut Vec<Offer>, most: u64, keep: usize) -> Vec<ShelfTool> {
    let mut taken = 0_u64;
    let mut place = 0;
    let mut left_out = Vec::new();
    offers.retain(|offer| {
        let size = offer.spec.tokens();
        place += 1;
        let fits = place <= keep || taken.saturating_add(size) <= most;
        if fits {
            taken = taken.saturating_add(size);
        } else {
            left_out.push(ShelfTool {
                name: offer.spec.name.clone(),
                tool: offer.tool.clone(),
                approve: offer.approve,
            });
        }
        fits
    });
    left_out
}

/// Collects offers under names that the wire allows, each tool once.
#[derive(Default)]
struct Offers {
    all: Vec<Offer>,
    names: HashSet<String>,
}

impl Offers {
    fn add(&mut self, info: &ToolInfo, tool: &str, approve: &[String]) {
        if self.all.iter().any(|offer| offer.tool == tool) {
            return;
        }
        let name = self.wire_name(tool);
        self.all.push(Offer {
            spec: spec(info, name),
            tool: tool.to_owned(),
            approve: needs_approval(info, approve),
        });
    }

    fn shelve(&mut self, info: &ToolInfo, approve: &[String]) -> ShelfTool {
        ShelfTool {
            name: self.wire_name(&info.shown),
            tool: info.shown.clone(),
            approve: needs_approval(info, approve),
        }
    }

    fn wire_name(&mut self, tool: &str) -> String {
        let name = to_wire_name(tool);
        let mut unique = name.clone();
        let mut nth = 2;
        while !self.names.insert(unique.clone()) {
            let mark = format!("_{nth}");
            let end = name.len().min(MAX_NAME_LEN - mark.len());
            unique = format!("{}{mark}", &name[..end]);
            nth += 1;
        }
        unique
    }
}

/// Converts a name to one that providers accept.
pub(super) fn to_wire_name(tool: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    tool.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(MAX_NAME_LEN)
        .collect()
}

/// Whether a person has to approve calls of a tool, wherever they are made. In chats, tools whose servers do
/// not declare their effects need an approval too (`authority`).
pub(crate) fn needs_approval(info: &ToolInfo, approve: &[String]) -> bool {
    approve.iter().any(|pattern| match pattern.as_str() {
        Agent::DESTRUCTIVE => info.annotations.destructive_hint == Some(true),
        pattern => matches_pattern(pattern, info),
    })
}

pub(super) fn is_called(info: &ToolInfo, name: &str) -> bool {
    info.shown == name || info.name == name || info.full_name() == name
}

fn matches_pattern(pattern: &str, info: &ToolInfo) -> bool {
    let names = [&info.shown, &info.name, &info.full_name()];
    names.into_iter().any(|name| fits(pattern, name))
}

fn absent(router: &Router, name: &str) -> Failure {
    let message = format!("the agent needs the tool `{name}`, which no server offers now");
    let remedy = router.failure_if_disabled(name).and_then(|off| off.hint);
    let usual = "`deft tools list` shows all tools, `deft doctor` which servers answer";
    Failure::new(FailureClass::NotFound, message)
        .hint(remedy.unwrap_or_else(|| usual.to_owned()))
        .mark_blocked()
        .outage(Outage::Tool(name.to_owned()))
}

fn ambiguous(name: &str, full: &[String]) -> Failure {
    let message = format!("several servers offer a tool `{name}`: {}", full.join(", "));
    Failure::new(FailureClass::Invalid, message).hint("name it with its server")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_are_valid_and_unique() {
        let mut offers = Offers::default();
        let long = "x".repeat(80);
        let names: Vec<String> = ["http.request", "http_request", &long, &format!("{long}y")]
            .into_iter()
            .map(|tool| offers.wire_name(tool))
            .collect();
        let expected = [
            "http_request".to_owned(),
            "http_request_2".to_owned(),
            "x".repeat(64),
            format!("{}_2", "x".repeat(62)),
        ];
        assert_eq!(names, expected);
    }
}
