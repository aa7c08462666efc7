//! Budget limits without effect: money limits for models without prices, and limits for unknown agents.
//!
//! Checks the configuration and the loaded skills. Not here: spending, and enforcing limits.

use deft_config::{Allowance, Config};
use deft_model::{Budget, nearest};
use deft_registry::Snapshot;

use crate::library::Library;
use crate::workspace::Workspace;

/// A limit without effect, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The problem.
    pub message: String,
    /// The remedy.
    pub hint: String,
}

/// Returns advice about limits that were just set; `agent` is the agent they apply to.
pub fn advise(workspace: &Workspace, agent: Option<&str>) -> Vec<Advice> {
    // The configuration may have other mistakes; `deft doctor` reports them.
    let Ok(home) = workspace.home() else {
        return Vec::new();
    };
    let snapshot = Library::of_home(&home).load();
    let unknown = agent.and_then(|agent| unknown(agent, &snapshot));
    let unpriced = advise_on_prices(&home.config, &snapshot);
    unknown.into_iter().chain(unpriced).collect()
}

fn unknown(agent: &str, snapshot: &Snapshot) -> Option<Advice> {
    if snapshot.agent(agent).is_some() {
        return None;
    }
    let names = snapshot.agents().map(|loaded| loaded.agent.id.as_str());
    let near = nearest(agent, names).map(|near| format!("did you mean `{near}`?"));
    let hint = near.unwrap_or_else(|| format!("define it in `agents/{agent}/AGENT.md`"));
    Some(Advice {
        message: format!("unknown agent `{agent}`, so this limit has no effect yet"),
        hint,
    })
}

/// Returns advice if money is limited and some models have no price.
pub fn advise_on_prices(config: &Config, snapshot: &Snapshot) -> Option<Advice> {
    if !limits_money(config, snapshot) {
        return None;
    }
    let models = config.models.iter().filter(|model| !model.is_priced());
    let names: Vec<&str> = models.map(|model| model.name.as_str()).collect();
    let first = names.first()?;
    let message = format!(
        "money is limited, but calls of models without a price count as free: `{}`",
        names.join("`, `")
    );
    let hint = format!(
        "`deft config set llm.{first}.price_input USD_PER_MILLION_TOKENS`, and `price_output`; 0 for \
         a model that costs nothing; token limits need no prices"
    );
    Some(Advice { message, hint })
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
