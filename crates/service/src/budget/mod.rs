//! Today's usage of models, budget limits, and paused agents.
//!
//! Not here: enforcing limits (`deft-agents`).

mod advice;

use deft_config::{BudgetConfig, Editor, config_file, kind_of, read_value};
use deft_model::SpendSubject;
use deft_wire::Done;
use deft_wire::budget::{
    BudgetChanged, BudgetScope, BudgetView, ResumeAgentResult, ScopeUsage, Spending,
};
use serde_json::{Map, Value};

use crate::app::App;
use crate::talk;
use crate::workspace::Workspace;

pub use advice::{Advice, advise, advise_on_prices};

/// Limits to set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetRequest {
    /// The agent to limit; `None` limits everything.
    pub agent: Option<String>,
    /// The new values as typed; `none` removes a limit.
    pub changes: Vec<(BudgetKey, String)>,
}

/// A budget setting: a limit, or the action when one is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetKey {
    /// Tokens per day.
    TokensPerDay,
    /// US dollars per day.
    UsdPerDay,
    /// The action when a limit is reached.
    OnExhausted,
    /// Tokens in one hour above which the agent is paused.
    SpikeTokens,
    /// Multiple of the agent's usual tokens per hour above which it is paused.
    SpikeFactor,
}

impl BudgetKey {
    fn name(self) -> &'static str {
        match self {
            Self::TokensPerDay => "tokens_per_day",
            Self::UsdPerDay => "usd_per_day",
            Self::OnExhausted => "on_exhausted",
            Self::SpikeTokens => "spike_tokens",
            Self::SpikeFactor => "spike_factor",
        }
    }
}

/// Returns today's usage and the limits.
pub fn show(workspace: &Workspace) -> Done<BudgetView> {
    // Fail on an invalid configuration: it must not look like one without limits.
    workspace.home()?;
    let app = App::to_read(workspace)?;
    let view = read(workspace, &app);
    app.close();
    view
}

/// Like [`show`], for a home that is already open.
pub(crate) fn read(workspace: &Workspace, app: &App) -> Done<BudgetView> {
    let home = workspace.home_to_read()?;
    let spending = app.block_on(talk::host(app).spending())?;
    Ok(view(spending, &home.config.budget))
}

/// Resumes a paused agent.
pub fn resume(workspace: &Workspace, agent: &str) -> Done<ResumeAgentResult> {
    let app = App::without_skills(workspace)?;
    let was_paused = app.block_on(talk::host(&app).resume_agent(agent));
    app.close();
    Ok(ResumeAgentResult {
        ok: true,
        agent: agent.to_owned(),
        was_paused: was_paused?,
    })
}

/// Writes limits into the configuration.
pub fn set(workspace: &Workspace, request: &BudgetRequest) -> Done<BudgetChanged> {
    let home = workspace.locate()?;
    let mut editor = Editor::open(&home)?;
    let mut settings = Map::new();
    for (key, given) in &request.changes {
        let path = path(request.agent.as_deref(), *key);
        let name = deft_config::format_path(&path);
        if given == "none" {
            editor.unset(&path);
            settings.insert(name, Value::Null);
        } else {
            let value = read_value(given, kind_of(&path));
            editor.set(&path, &value)?;
            settings.insert(name, value);
        }
    }
    Ok(BudgetChanged {
        ok: true,
        changed: editor.save()?,
        path: config_file(&home).display().to_string(),
        settings,
    })
}

fn path(agent: Option<&str>, key: BudgetKey) -> Vec<String> {
    let above = match agent {
        Some(agent) => vec!["budget", "agents", agent],
        None => vec!["budget"],
    };
    let path = above.into_iter().chain([key.name()]);
    path.map(str::to_owned).collect()
}

/// Combines usage and limits. Scopes with limits come first, including unused ones.
fn view(spending: Spending, budget: &BudgetConfig) -> BudgetView {
    let agents = budget.agents.iter();
    let agents =
        agents.map(|(name, watch)| (SpendSubject::Agent(name.clone()), Some(&watch.limits)));
    let limited: Vec<_> = std::iter::once((SpendSubject::All, Some(&budget.all)))
        .chain(agents)
        .collect();
    let others = spending
        .scopes
        .iter()
        .map(|used| (used.scope.clone(), None));
    let others = others.filter(|(name, _)| limited.iter().all(|(known, _)| known != name));
    let scopes = limited.iter().cloned().chain(others);
    let scope = |(name, limits): (SpendSubject, Option<&deft_config::Allowance>)| {
        let used = spending.scopes.iter().find(|used| used.scope == name);
        let unused = || ScopeUsage {
            scope: name.clone(),
            ..ScopeUsage::default()
        };
        BudgetScope {
            used: used.cloned().unwrap_or_else(unused),
            limit_tokens: limits.and_then(|limits| limits.tokens_per_day),
            limit_usd: limits.and_then(|limits| limits.usd_per_day),
            on_exhausted: limits.map(|limits| limits.on_exhausted),
        }
    };
    BudgetView {
        scopes: scopes.map(scope).collect(),
        day: spending.day,
        paused: spending.paused,
    }
}

#[cfg(test)]
mod tests {
    use deft_config::Allowance;
    use deft_model::{ExhaustedAction, Usd};

    use super::*;
    use crate::talk::Talk;
    use crate::talk::fake::Fake;

    #[tokio::test]
    async fn usage_is_shown_with_its_limit() {
        let limits = |tokens, usd| Allowance {
            tokens_per_day: tokens,
            usd_per_day: usd,
            on_exhausted: ExhaustedAction::Pause,
        };
        let mut budget = BudgetConfig {
            all: limits(None, Some(5.0)),
            ..BudgetConfig::default()
        };
        budget.agents.entry("scout".to_owned()).or_default().limits = limits(Some(9000), None);
        let spending = Fake::default().spending().await.unwrap();
        let used = |scope: SpendSubject, input_tokens, cost| ScopeUsage {
            scope,
            calls: 3,
            input_tokens,
            output_tokens: 50,
            cost_usd: Usd::from_micros(cost),
            reserved_tokens: 7,
            ..ScopeUsage::default()
        };
        let expected = [
            BudgetScope {
                used: used(SpendSubject::All, 3000, 2_500_000),
                limit_tokens: None,
                limit_usd: Some(5.0),
                on_exhausted: Some(ExhaustedAction::Pause),
            },
            BudgetScope {
                used: ScopeUsage {
                    scope: SpendSubject::Agent("scout".to_owned()),
                    ..ScopeUsage::default()
                },
                limit_tokens: Some(9000),
                limit_usd: None,
                on_exhausted: Some(ExhaustedAction::Pause),
            },
            BudgetScope {
                used: used(SpendSubject::Agent("thinker".to_owned()), 1000, 1200),
                limit_tokens: None,
                limit_usd: None,
                on_exhausted: None,
            },
        ];
        assert_eq!(view(spending, &budget).scopes, expected);
    }
}
