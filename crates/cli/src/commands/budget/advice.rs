//! Limits that do not limit anything: money without prices, and agents that are not there.
//!
//! Looks at what is configured and loaded. Not here: what was spent, and what happens when it is.

use deft_model::{Budget, nearest};
use deft_registry::Snapshot;

use crate::args::Global;
use crate::output::Output;
use deft_config::{Allowance, Config};
use deft_service::Library;

/// What is worth knowing about the limits that were just set.
pub(super) fn give(agent: Option<&str>, global: &Global, output: &Output) {
    // What was written may be one mistake of several; `deft doctor` names the others.
    let Ok(home) = global.workspace().home() else {
        return;
    };
    let snapshot = Library::of_home(&home).load();
    if let Some(words) = agent.and_then(|agent| unknown(agent, &snapshot)) {
        output.note(&words);
    }
    if let Some((message, hint)) = unpriced(&home.config, &snapshot) {
        output.note(&format!("warning: {message}\nhint: {hint}"));
    }
}

fn unknown(agent: &str, snapshot: &Snapshot) -> Option<String> {
    if snapshot.agent(agent).is_some() {
        return None;
    }
    let names = snapshot.agents().map(|loaded| loaded.agent.id.as_str());
    let near = nearest(agent, names).map(|near| format!("did you mean `{near}`?"));
    let hint = near.unwrap_or_else(|| format!("`agents/{agent}/AGENT.md` would define it"));
    Some(format!(
        "warning: there is no agent `{agent}`, so that this limits nobody yet\nhint: {hint}"
    ))
}

/// Models that cost nothing as far as anybody knows, where money is limited; and what to do.
pub(crate) fn unpriced(config: &Config, snapshot: &Snapshot) -> Option<(String, String)> {
    if !limits_money(config, snapshot) {
        return None;
    }
    let models = config.models.iter().filter(|model| !model.is_priced());
    let names: Vec<&str> = models.map(|model| model.name.as_str()).collect();
    let first = names.first()?;
    let message = format!(
        "money is limited, but no price is known of `{}`, so that its calls count as free",
        names.join("`, `")
    );
    let hint = format!(
        "`deft config set llm.{first}.price_input USD_PER_MILLION_TOKENS`, and `price_output`; 0 for \
         a model that costs nothing; tokens are limited without prices"
    );
    Some((message, hint))
}

fn limits_money(config: &Config, snapshot: &Snapshot) -> bool {
    let by_day = |limits: &Allowance| limits.usd_per_day.is_some();
    let by_file = |budget: &Option<Budget>| {
        let budget = budget.as_ref();
        budget.is_some_and(|budget| budget.cost_usd.is_some())
    };
    let budget = &config.budget;
    by_day(&budget.all)
        || budget.agents.values().any(|watch| by_day(&watch.limits))
        || snapshot
            .skills()
            .any(|loaded| by_file(&loaded.skill.policy.budget))
        || snapshot
            .agents()
            .any(|loaded| by_file(&loaded.agent.budget))
}
