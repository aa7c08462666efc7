//! Which tools an agent is offered, and what they are called on the wire.
//!
//! Providers take letters, digits, `_` and `-`; names in the router have dots. What the model
//! passes back is one of the names it was given and nothing else.

use std::collections::HashSet;

use deft_agent::Offer;
use deft_model::{Failure, FailureClass, ToolSpec, estimate_tokens, fits};
use deft_tools::{Found, Router, ToolInfo, relax_schema_types};

/// The longest name that every provider takes.
const LONGEST_NAME: usize = 64;

/// How many tools a model is offered at most; providers refuse more than 128.
pub(crate) const MOST_TOOLS: usize = 120;

/// The tools of a skill, exactly (S0.53). One that is not there blocks the run.
pub(crate) fn exactly(
    router: &Router,
    names: &[String],
    approve: &[String],
) -> Result<Vec<Offer>, Failure> {
    let mut offers = Offers::default();
    for name in names {
        match router.find(name) {
            Found::Tool(info) => offers.add(&info, name, approve),
            Found::Ambiguous(full) => return Err(ambiguous(name, &full)),
            Found::Missing { .. } | Found::Unknown { .. } => return Err(absent(name)),
        }
    }
    Ok(offers.all)
}

/// Everything that the patterns name, the wanted ones first, up to a limit. Says which were
/// left out.
pub(crate) fn matching(
    router: &Router,
    patterns: &[String],
    first: &[String],
    approve: &[String],
) -> (Vec<Offer>, Vec<String>) {
    let mut all = router.list();
    all.sort_by_key(|info| {
        let place = first.iter().position(|name| is_called(info, name));
        (place.unwrap_or(usize::MAX), info.full_name())
    });
    all.retain(|info| {
        first.iter().any(|name| is_called(info, name))
            || patterns.iter().any(|pattern| names_it(pattern, info))
    });
    let left_out = all.iter().skip(MOST_TOOLS);
    let left_out = left_out.map(|info| info.shown.clone()).collect();
    let mut offers = Offers::default();
    for info in all.iter().take(MOST_TOOLS) {
        offers.add(info, &info.shown, approve);
    }
    (offers.all, left_out)
}

/// Leaves out what a model has no room for, the last ones first, and keeps the first so many in any
/// case. Says which were left out.
pub(crate) fn fit(offers: &mut Vec<Offer>, tokens: u64, keep: usize) -> Vec<String> {
    let mut taken = 0_u64;
    let mut place = 0;
    let mut left_out = Vec::new();
    offers.retain(|offer| {
        let spec = &offer.spec;
        let size = estimate_tokens(&spec.description) + estimate_tokens(&spec.schema.to_string());
        place += 1;
        let fits = place <= keep || taken.saturating_add(size) <= tokens;
        if fits {
            taken = taken.saturating_add(size);
        } else {
            left_out.push(offer.tool.clone());
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
            spec: ToolSpec {
                name,
                description: info.description.clone(),
                schema: relax_schema_types(&info.input_schema),
            },
            tool: tool.to_owned(),
            approve: needs_approval(info, approve),
        });
    }

    fn wire_name(&mut self, tool: &str) -> String {
        let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let name: String = tool
            .chars()
            .map(|c| if allowed(c) { c } else { '_' })
            .take(LONGEST_NAME)
            .collect();
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

/// Whether a person has to agree to calls of a tool.
pub(crate) fn needs_approval(info: &ToolInfo, approve: &[String]) -> bool {
    approve.iter().any(|pattern| match pattern.as_str() {
        "destructive" => info.annotations.destructive_hint == Some(true),
        pattern => names_it(pattern, info),
    })
}

fn is_called(info: &ToolInfo, name: &str) -> bool {
    info.shown == name || info.name == name || info.full_name() == name
}

fn names_it(pattern: &str, info: &ToolInfo) -> bool {
    let names = [&info.shown, &info.name, &info.full_name()];
    names.into_iter().any(|name| fits(pattern, name))
}

fn absent(name: &str) -> Failure {
    let message = format!("the agent needs the tool `{name}`, which no server offers now");
    Failure::new(FailureClass::NotFound, message)
        .hint("`deft tools list` shows what there is, `deft doctor` which servers answer")
        .blocked()
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
