//! The budgets that a model request counts against: of runs, skills and agents, and of the day.
//!
//! A skill that another one runs counts against its own budget and the caller's, as part of the same run or
//! as a separate run. Not here: what happens when a budget is spent.

use deft_base::{Error, read_or_log, read_stored};
use deft_model::{
    Budget, BudgetPeriod, Cause, EventType, ExhaustedAction, RunId, SpendSubject, Usd,
};
use deft_store::{Limit, RunRow, SpendScope, StoredEvent, run_scope};
use deft_workflow::{EnclosingSkill, Event, Path};
use jiff::civil::Date;

use crate::Agents;
use crate::options::DayBudget;

/// Maximum nesting of runs that agents of other runs started.
const MAX_DEPTH: usize = 32;

/// A limit, and the action when it is reached.
pub(super) struct Bound {
    pub(super) limit: Limit,
    pub(super) then: ExhaustedAction,
    pub(super) whose: LimitHolder,
}

/// The holder of a limit, who is paused when it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LimitHolder {
    /// The skill of the run.
    Own,
    /// A skill inside the run, or one that encloses the run.
    Skill(String),
    /// An agent; also for the limit of all agents together.
    Agent(String),
}

/// A skill whose budget a request counts against.
#[derive(Clone, Debug)]
pub struct Payer {
    skill: String,
    revision: String,
    /// The scope of its limit per run.
    scope: String,
    /// Whether it is a step of its run, and not the whole run.
    inside: bool,
}

impl Payer {
    fn new(run: &RunId, around: EnclosingSkill) -> Self {
        let of_run = run_scope(run);
        Self {
            inside: around.path.is_some(),
            // All tries of the step share one scope.
            scope: match around.path {
                Some(path) => format!("{of_run}/{}", path.without_attempts()),
                None => of_run,
            },
            skill: around.skill,
            revision: around.revision,
        }
    }
}

/// Returns the skills whose budgets a request of a step counts against, beginning with the run's own skill.
pub fn payers(run: &RunRow, around: Vec<EnclosingSkill>) -> Vec<Payer> {
    let around = around.into_iter();
    around.map(|around| Payer::new(&run.id, around)).collect()
}

impl Agents {
    /// Returns the skills outside of a run whose budgets it counts against: an agent of another run started
    /// it, and its key names the call. Deleted runs are skipped, because they are over. A journal or a nested
    /// skill that cannot be read is an error, because a budget would be missed.
    pub async fn payers_above(&self, run: &RunRow) -> Result<Vec<Payer>, Error> {
        let mut payers = Vec::new();
        let mut run = run.clone();
        for _ in 0..MAX_DEPTH {
            let key = run.key.as_deref().filter(|_| run.cause == Cause::Agent);
            let Some((above, call)) = key.and_then(|key| key.split_once('/')) else {
                break;
            };
            let path = call.split('#').next().unwrap_or(call).to_owned();
            let Some(above) = self.store().run(&RunId::new(above)).await? else {
                break;
            };
            payers.extend(self.payers_at(&above, &path).await?);
            run = above;
        }
        Ok(payers)
    }

    /// Returns the skills around a call of a step, read from the journal of its run.
    async fn payers_at(&self, run: &RunRow, path: &str) -> Result<Vec<Payer>, Error> {
        let own = EnclosingSkill {
            skill: run.skill.clone(),
            revision: run.revision.clone(),
            path: None,
        };
        let mut around = vec![own];
        let stored = self.store().events(Some(&run.id), 0, u32::MAX).await?;
        let entered = |stored: &&StoredEvent| stored.event_type() == Some(EventType::Entered);
        for stored in stored.iter().filter(entered) {
            let event = read_stored(&stored.body, || {
                format!("event {} of run `{}`", stored.seq, run.id)
            })?;
            let Event::Entered {
                path: at, revision, ..
            } = event
            else {
                continue;
            };
            if !is_inside(path, &at) {
                continue;
            }
            // A step that was tried again may have entered another revision.
            around.retain(|known| known.path.as_ref().is_none_or(|path| !same(path, &at)));
            let pinned = self.library.find_pinned(&run.skill, &revision).await?;
            around.push(EnclosingSkill {
                skill: pinned.skill.id.to_string(),
                revision,
                path: Some(at),
            });
        }
        Ok(payers(run, around))
    }

    /// Returns the budgets of skills. The first skill is that of the run.
    pub(super) async fn skill_bounds(&self, payers: &[Payer]) -> Vec<Bound> {
        let mut bounds = Vec::new();
        for (nth, payer) in payers.iter().enumerate() {
            let pinned = self
                .library
                .find_pinned(&payer.skill, &payer.revision)
                .await;
            let pinned = read_or_log(pinned, "the budget of a skill");
            let policy = pinned.as_ref().map(|pinned| &pinned.skill.policy);
            let budget = policy.and_then(|policy| policy.budget.as_ref());
            let zone = policy.and_then(|policy| policy.timezone.as_deref());
            let day = self.day_in(zone);
            let bound = |scope, period| Bound {
                whose: match nth {
                    0 => LimitHolder::Own,
                    _ => LimitHolder::Skill(payer.skill.clone()),
                },
                ..of_skill(scope, budget, period)
            };
            let per_run = budget.is_some_and(|budget| budget.per == BudgetPeriod::Run);
            if per_run || !payer.inside {
                bounds.push(bound(payer.scope.clone(), BudgetPeriod::Run));
            }
            let scope = SpendScope::on_day(day, SpendSubject::Skill(payer.skill.clone()));
            bounds.push(bound(scope.to_string(), BudgetPeriod::Day));
        }
        bounds
    }

    /// Returns the budgets of an agent, from the configuration and from its file. `run` is the run for a
    /// budget per run.
    pub(super) fn agent_bounds(&self, agent: &str, run: Option<&RunRow>) -> Vec<Bound> {
        let budgets = self.budgets();
        let today = self.day_in(None);
        let configured = budgets.agents.get(agent);
        let scope = SpendScope::on_day(today, SpendSubject::Agent(agent.to_owned())).to_string();
        // An agent without a budget follows the rule for all agents.
        let rule = configured.unwrap_or(&budgets.all).on_exhausted;
        let mut bounds = vec![of_day(scope.clone(), agent, configured, rule)];
        let defined = self.agent_definition(agent);
        let Some(own) = defined.and_then(|agent| agent.budget.clone()) else {
            return bounds;
        };
        let scope = match own.per {
            BudgetPeriod::Day => Some(scope),
            BudgetPeriod::Run => run.map(|run| run_scope(&run.id)),
        };
        bounds.extend(scope.map(|scope| Bound {
            whose: LimitHolder::Agent(agent.to_owned()),
            ..of_skill(scope, Some(&own), own.per)
        }));
        bounds
    }

    /// Returns the budget of all agents together. The agent that exceeds it is paused.
    pub(super) fn bound_of_all(&self, agent: &str) -> Bound {
        let all = &self.budgets().all;
        let scope = SpendScope::on_day(self.day_in(None), SpendSubject::All);
        of_day(scope.to_string(), agent, Some(all), all.on_exhausted)
    }

    /// Returns today's date in a zone, by default in the zone of the host.
    pub(super) fn day_in(&self, zone: Option<&str>) -> Date {
        let now = self.base.now();
        let zoned = zone.and_then(|zone| now.in_tz(zone).ok());
        zoned
            .unwrap_or_else(|| now.to_zoned(self.base.host_zone()))
            .date()
    }
}

/// Whether a path is inside the skill that a step runs, in any try of the step.
fn is_inside(place: &str, step: &Path) -> bool {
    let place = Path::from_text(place).without_attempts();
    let rest = place.strip_prefix(step.without_attempts().as_str());
    rest.is_some_and(|rest| rest.starts_with('/'))
}

fn same(one: &Path, other: &Path) -> bool {
    one.without_attempts() == other.without_attempts()
}

fn of_skill(scope: String, budget: Option<&Budget>, period: BudgetPeriod) -> Bound {
    let budget = budget.filter(|budget| budget.per == period);
    let cost = budget.and_then(|budget| budget.cost_usd);
    Bound {
        limit: Limit {
            scope,
            tokens: budget.and_then(|budget| budget.tokens),
            micros: cost.map(micros),
        },
        then: budget.map_or(ExhaustedAction::Pause, |budget| budget.on_exhausted),
        whose: LimitHolder::Own,
    }
}

/// Returns the bound for a daily budget from the configuration.
fn of_day(scope: String, agent: &str, budget: Option<&DayBudget>, then: ExhaustedAction) -> Bound {
    Bound {
        limit: Limit {
            scope,
            tokens: budget.and_then(|budget| budget.tokens),
            micros: budget.and_then(|budget| budget.usd).map(micros),
        },
        then,
        whose: LimitHolder::Agent(agent.to_owned()),
    }
}

pub(super) fn micros(dollars: f64) -> u64 {
    Usd::from_dollars(dollars).micros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_path_is_inside_its_enclosing_steps() {
        let cases = [
            ("outer/mind", "outer", true),
            ("outer~2/mind", "outer", true),
            ("outer/mind", "outer~3", true),
            ("outer[1]/mind", "outer[1]", true),
            ("outer[1]/mind", "outer[10]", false),
            ("outer[10]/mind", "outer[1]", false),
            ("outer/inner/mind", "outer/inner", true),
            ("outer", "outer", false),
            ("outermost/mind", "outer", false),
        ];
        for (place, step, inside) in cases {
            let found = is_inside(place, &Path::from_text(step));
            assert_eq!(found, inside, "{place} in {step}");
        }
    }
}
