//! Slots that are skipped because the daily budget of the skill is spent and demands `skip`.

use deft_base::{read_or_log, run_failure};
use deft_library::PinnedSkill;
use deft_model::{
    BudgetPeriod, ExhaustedAction, Failure, FailureClass, Outcome, SpendSubject, Usd,
};
use deft_store::{RunFilter, SpendScope, SpentFilter};

use super::bounds::micros;
use super::dollars;
use crate::Agents;

impl Agents {
    /// Returns why a scheduled run is skipped: its daily budget is spent and demands `skip`.
    pub async fn budget_spent(&self, pinned: &PinnedSkill) -> Option<Failure> {
        let skill = &pinned.skill;
        let budget = skill.policy.budget.as_ref()?;
        let skips = budget.on_exhausted == ExhaustedAction::Skip && budget.per == BudgetPeriod::Day;
        if !skips {
            return None;
        }
        let day = self.day_in(skill.policy.timezone.as_deref());
        let scope = SpendScope::on_day(day, SpendSubject::Skill(skill.id.to_string())).to_string();
        let filter = SpentFilter {
            scope: Some(scope.clone()),
            ..SpentFilter::default()
        };
        let rows = self.store().list_spent(filter).await;
        let rows = read_or_log(rows, "the costs of the day")?;
        let spent = rows.first()?;
        if let Some(why) = self.refused_today(pinned, &scope).await {
            // The check for the next slot reads this failure.
            return Some(Failure::new(FailureClass::Budget, why).budget(&scope));
        }
        let tokens = spent.tokens_in + spent.tokens_out;
        let over = budget.tokens.is_some_and(|limit| tokens >= limit)
            || budget
                .cost_usd
                .map(micros)
                .is_some_and(|limit| spent.micros >= limit);
        over.then(|| {
            let cost = dollars(Usd::from_micros(spent.micros));
            let message = format!("today's budget is spent: {tokens} tokens, {cost}");
            Failure::new(FailureClass::Budget, message)
        })
    }

    /// Returns the failure of today's last run, if the daily budget was not sufficient for it. The next run
    /// would fail for the same reason.
    async fn refused_today(&self, pinned: &PinnedSkill, scope: &str) -> Option<String> {
        let filter = RunFilter {
            skill: Some(pinned.skill.id.to_string()),
            outcomes: vec![Outcome::Error, Outcome::Success, Outcome::Skipped],
            limit: Some(1),
            ..RunFilter::default()
        };
        let last = self.store().runs(filter).await;
        let last = read_or_log(last, "the last run of a skill")?.pop()?;
        if last.revision != pinned.revision {
            return None;
        }
        let error = run_failure(&last).unwrap_or_else(|error| {
            tracing::error!(%error, "today's budget may not be sufficient for the next run");
            None
        })?;
        (error.budget.as_deref() == Some(scope)).then_some(error.message)
    }
}
