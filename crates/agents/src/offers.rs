//! Which tools an agent is offered, and what they are called on the wire.
//!
//! Providers take letters, digits, `_` and `-`; names in the router have dots. What the model
//! passes back is one of the names it was given and nothing else.

use std::collections::HashSet;

use deft_agent::{MOST_OFFERED, Offer, ShelfTool};
use deft_model::{Agent, Failure, FailureClass, Outage, ToolSpec, fits};
use deft_tools::{Router, ToolInfo, ToolLookup, relax_schema_types};

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// How many tools a model is offered at first. A few more may come off the shelf.
const MOST_TOOLS: usize = MOST_OFFERED - 20;

/// What an agent is offered, and what it is offered once it asks for it.
#[derive(Default)]
pub(crate) struct Choice {
    pub(crate) tools: Vec<Offer>,
    pub(crate) shelf: Vec<ShelfTool>,
}

/// Which tools an agent may use, and which of them it is offered.
pub(crate) struct ToolSelection<'a> {
    /// Names and patterns of tools that it may use.
    pub(crate) may_use: &'a [String],
    /// Names and patterns of those that it is offered.
    pub(crate) offered: &'a [String],
    /// Tools that it may use and is offered in any case, in this order.
    pub(crate) first: &'a [String],
    /// Tools that are not for it, whatever else is said.
    pub(crate) without: &'a [&'a str],
    /// What a person is asked about.
    pub(crate) approve: &'a [String],
}

/// The tools of a skill, exactly (S0.53). One that is not there blocks the run.
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

/// What a wish comes down to: the first ones first, up to a limit, everything else on the shelf.
pub(crate) fn matching(mut all: Vec<ToolInfo>, wish: &ToolSelection<'_>) -> Choice {
    let place = |info: &ToolInfo| wish.first.iter().position(|name| is_called(info, name));
    let fits = |patterns: &[String], info: &ToolInfo| {
        patterns.iter().any(|pattern| names_it(pattern, info))
    };
    all.retain(|info| {
        let allowed = place(info).is_some() || fits(wish.may_use, info) || fits(wish.offered, info);
        allowed && !wish.without.contains(&info.shown.as_str())
    });
    all.sort_by_key(|info| (place(info).unwrap_or(usize::MAX), info.full_name()));
    let (offered, shelved): (Vec<_>, Vec<_>) =
        (all.into_iter()).partition(|info| place(info).is_some() || fits(wish.offered, info));
    let too_many = offered.iter().skip(MOST_TOOLS);
    let mut offers = Offers::default();
    for info in offered.iter().take(MOST_TOOLS) {
        offers.add(info, &info.shown, wish.approve);
    }
    let shelf = shelved.iter().chain(too_many);
    let shelf = shelf.map(|info| offers.shelved(info, wish.approve));
    Choice {
        shelf: shelf.collect(),
        tools: offers.all,
    }
}

/// How a tool is described now, under the name that a model has for it.
pub(crate) fn described(router: &Router, shelved: &ShelfTool) -> Option<ToolSpec> {
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

/// Whether all tools that an agent may use take no more than so many tokens.
pub(crate) fn are_few(all: &[ToolInfo], without: &[&str], most: u64) -> bool {
    let all = all.iter();
    let mut for_it = all.filter(|info| !without.contains(&info.shown.as_str()));
    let taken = for_it.try_fold(0_u64, |taken, info| {
        let taken = taken + spec(info, String::new()).tokens();
        (taken <= most).then_some(taken)
    });
    taken.is_some()
}

/// Leaves out what a model has no room for, the last ones first, and keeps the first so many in any
/// case. Says which were left out.
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

/// Gathers offers under names that the wire allows, each once.
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

    fn shelved(&mut self, info: &ToolInfo, approve: &[String]) -> ShelfTool {
        ShelfTool {
            name: self.wire_name(&info.shown),
            tool: info.shown.clone(),
            approve: needs_approval(info, approve),
        }
    }

    fn wire_name(&mut self, tool: &str) -> String {
        let name = on_the_wire(tool);
        let mut unique = name.clone();
        let mut nth = 2;
        while !self.names.insert(unique.clone()) {
            let mark = format!("_{nth}");
            let end = name.len().min(LONGEST_NAME - mark.len());
            unique = format!("{}{mark}", &name[..end]);
            nth += 1;
        }
        unique
    }
}

/// A name as providers take it.
pub(super) fn on_the_wire(tool: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    tool.chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .take(LONGEST_NAME)
        .collect()
}

/// Whether a person has to agree to calls of a tool, wherever they are made. A tool whose server leaves
/// open what it does is asked about in chats besides (`authority`).
pub(crate) fn needs_approval(info: &ToolInfo, approve: &[String]) -> bool {
    approve.iter().any(|pattern| match pattern.as_str() {
        Agent::DESTRUCTIVE => info.annotations.destructive_hint == Some(true),
        pattern => names_it(pattern, info),
    })
}

pub(super) fn is_called(info: &ToolInfo, name: &str) -> bool {
    info.shown == name || info.name == name || info.full_name() == name
}

fn names_it(pattern: &str, info: &ToolInfo) -> bool {
    let names = [&info.shown, &info.name, &info.full_name()];
    names.into_iter().any(|name| fits(pattern, name))
}

fn absent(router: &Router, name: &str) -> Failure {
    let message = format!("the agent needs the tool `{name}`, which no server offers now");
    let remedy = router.switched_off(name).and_then(|off| off.hint);
    let usual = "`deft tools list` shows all tools, `deft doctor` which servers answer";
    Failure::new(FailureClass::NotFound, message)
        .hint(remedy.unwrap_or_else(|| usual.to_owned()))
        .blocked()
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
    fn names_fit_the_wire_and_stay_apart() {
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
