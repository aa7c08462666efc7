//! The spending of agents: reserved before each model request, recorded after it.
//!
//! Every request counts against its run, its skill and the enclosing skills, its agent today, and all agents
//! today (`bounds.rs`). A refusal is a failure of class `budget`; the budget that was spent determines what
//! happens then. The ledger determines what was spent, also for the row of a run.

mod bounds;
mod pause;
mod slots;

use std::fmt::Display;
use std::time::{Duration, Instant};

use deft_llm::{Answer, ModelOptions};
use deft_model::{ExhaustedAction, Failure, FailureClass, ModelRequest, SpendSubject, Usd};
use deft_store::{
    Estimate, Lease, Limit, Refusal, ReservationResult, Reserve, RunRow, Spend, SpendScope, Write,
};
use jiff::Timestamp;
use jiff::civil::Date;
use tokio_util::sync::CancellationToken;

pub use pause::AgentPause;

pub use bounds::{Payer, payers};

use crate::Agents;
use bounds::{Bound, LimitHolder};

/// How long a request waits for the reservations of other calls, and how often it checks. Both are real time,
/// even if schedules run on a simulated clock.
const RESERVATION_TIMEOUT: Duration = Duration::from_mins(1);
const RESERVATION_INTERVAL: Duration = Duration::from_millis(100);

/// The maximum cost of one request, and the budgets it counts against.
pub struct Spending {
    agent: String,
    /// The agent that makes the request, if it was dispatched.
    below: Option<String>,
    bounds: Vec<Bound>,
    tokens: u64,
    cost: Usd,
    /// Tokens and cost of the prompt, which are due once the request was sent.
    prompt: (u64, Usd),
    at: Timestamp,
}

/// The agents and skills whose budgets a request counts against.
pub struct Payers<'a> {
    /// The agent of the step. If a dispatched agent makes the request, both pay.
    pub agent: &'a str,
    /// The agent that was dispatched.
    pub below: Option<&'a str>,
    /// The skills, beginning with the run's own.
    pub skills: &'a [Payer],
}

/// The refusal of a request.
pub struct BudgetExceeded {
    /// The failure of the request.
    pub failure: Failure,
    /// The scope of the budget.
    pub scope: String,
    /// What happens then; `None` if the request just fails.
    pub then: Option<Exhaustion>,
}

/// The reaction to a spent budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhaustion {
    /// The action that the budget demands.
    pub then: ExhaustedAction,
    /// Whether it is the budget of the run's skill.
    pub own: bool,
    /// Whether it ends the whole run. False for the budget of another skill inside or around the run.
    pub whole: bool,
}

impl BudgetExceeded {
    fn simply(failure: Failure) -> Self {
        Self {
            failure,
            scope: String::new(),
            then: None,
        }
    }
}

impl Agents {
    /// Returns the maximum cost of a request, and the budgets it counts against.
    pub async fn spending(
        &self,
        run: &RunRow,
        paying: &Payers<'_>,
        model: &str,
        request: &ModelRequest,
    ) -> Spending {
        let mut bounds = self.skill_bounds(paying.skills).await;
        bounds.extend(self.agent_bounds(paying.agent, Some(run)));
        bounds.push(self.bound_of_all(paying.agent));
        let below = paying.below.filter(|below| *below != paying.agent);
        if let Some(below) = below {
            bounds.extend(self.agent_bounds(below, Some(run)));
        }
        let (tokens, cost) = self.at_most(model, request);
        let price = self.models().options(model).and_then(|model| model.price);
        let input = request.tokens();
        let sent = price.map(|price| price.at_most(input, 0));
        Spending {
            agent: paying.agent.to_owned(),
            below: below.map(str::to_owned),
            bounds,
            tokens,
            cost,
            prompt: (input, sent.unwrap_or_default()),
            at: self.base.now(),
        }
    }

    /// Returns the maximum tokens and cost of a request, over its model and all fallbacks.
    fn at_most(&self, model: &str, request: &ModelRequest) -> (u64, Usd) {
        let models = self.models();
        let input = request.tokens();
        let asked = models.options(model);
        let others = asked.map_or(&[][..], |asked| &asked.fallback);
        let others = others.iter().filter_map(|name| models.options(name));
        let most = |model: &ModelOptions| {
            let output = u64::from(request.max_tokens.unwrap_or(model.max_tokens));
            let cost = model.price.map(|price| price.at_most(input, output));
            (input.saturating_add(output), cost.unwrap_or_default())
        };
        let usual = (input, Usd::default());
        let all = asked.into_iter().chain(others).map(most);
        all.fold(usual, |(tokens, cost), (more, dearer)| {
            (tokens.max(more), cost.max(dearer))
        })
    }

    /// Reserves the maximum cost of a request. `lifted` means that a person approved more spending, so limits
    /// that ask do not apply. If only reservations of other calls are in the way, this waits for a while.
    pub async fn reserve(
        &self,
        spending: &Spending,
        lease: &Lease,
        key: &str,
        lifted: bool,
        halt: &CancellationToken,
    ) -> Result<(), BudgetExceeded> {
        let unable = |error: &dyn Display| {
            BudgetExceeded::simply(Failure::new(FailureClass::Other, error.to_string()))
        };
        let below = spending.below.iter();
        for agent in std::iter::once(&spending.agent).chain(below) {
            let paused = self.check_pause(agent, &spending.bounds).await;
            if let Some(failure) = paused.map_err(|error| unable(&error))? {
                return Err(BudgetExceeded::simply(failure));
            }
        }
        let limit = |bound: &Bound| match bound.then {
            ExhaustedAction::Ask if lifted => Limit {
                scope: bound.limit.scope.clone(),
                tokens: None,
                micros: None,
            },
            ExhaustedAction::Pause | ExhaustedAction::Skip | ExhaustedAction::Ask => {
                bound.limit.clone()
            }
        };
        let request = Reserve {
            key: key.to_owned(),
            scopes: spending.bounds.iter().map(limit).collect(),
            tokens: spending.tokens,
            micros: spending.cost.micros(),
            // If a crash interrupts the request, the provider has read the prompt; the length of the reply is
            // unknown.
            estimate: Estimate {
                agent: spending.agent.clone(),
                tokens: spending.prompt.0,
                micros: spending.prompt.1.micros(),
            },
            at: spending.at,
        };
        let since = Instant::now();
        loop {
            let reserved = self.store().reserve(lease, request.clone()).await;
            let refusal = match reserved.map_err(|error| unable(&error))? {
                ReservationResult::Granted => return Ok(()),
                ReservationResult::Refused(refusal) => refusal,
            };
            if !is_only_held(&refusal, spending) {
                return Err(self.handle_refusal(spending, refusal).await);
            }
            // Calls in flight use less than they reserve, and their real cost is known soon.
            let soon = tokio::time::sleep(RESERVATION_INTERVAL);
            if since.elapsed() < RESERVATION_TIMEOUT
                && halt.run_until_cancelled(soon).await.is_some()
            {
                continue;
            }
            return Err(held_by_others(spending, refusal));
        }
    }

    /// Converts a refusal, and pauses the agent if the budget demands it.
    async fn handle_refusal(&self, spending: &Spending, refusal: Refusal) -> BudgetExceeded {
        let reached = spending.bounds.iter().find(|bound| {
            let limit = &bound.limit;
            limit.scope == refusal.scope
                && limit.tokens == refusal.limit_tokens
                && limit.micros == refusal.limit_micros
        });
        let failure = spent_failure(&refusal, spending, reached.map(|bound| &bound.whose));
        if let Some(bound) = reached
            && let LimitHolder::Agent(agent) = &bound.whose
            && bound.then == ExhaustedAction::Pause
            // A spent budget of one run does not affect the next run.
            && !is_of_run(&refusal)
        {
            self.pause_for(agent, &failure, &bound.limit).await;
        }
        BudgetExceeded {
            failure,
            scope: refusal.scope,
            then: reached.map(|bound| Exhaustion {
                then: bound.then,
                own: bound.whose == LimitHolder::Own,
                whole: !matches!(bound.whose, LimitHolder::Skill(_)),
            }),
        }
    }

    /// Returns the writes that record the cost of a request after this many tries, with or without an answer.
    pub async fn spending_writes(
        &self,
        spending: &Spending,
        key: &str,
        answer: Option<&Answer>,
        tries: u32,
    ) -> Vec<Write> {
        let key = key.to_owned();
        if answer.is_none() && tries == 0 {
            return vec![Write::Unreserve { key }];
        }
        let usage = answer.map(|answer| answer.reply.usage).unwrap_or_default();
        let cost = answer.and_then(|answer| answer.cost).unwrap_or_default();
        self.look_for_spike(spending, usage.total()).await;
        let scopes = spending.bounds.iter();
        vec![Write::Spend(Spend {
            key,
            scopes: scopes.map(|bound| bound.limit.scope.clone()).collect(),
            tokens_in: usage.input,
            tokens_out: usage.output,
            micros: cost.micros(),
            calls: u64::from(tries.max(1)),
            agent: spending.agent.clone(),
            at: self.base.now(),
        })]
    }
}

fn spent_failure(refusal: &Refusal, spending: &Spending, whose: Option<&LimitHolder>) -> Failure {
    let tokens = refusal.spent_tokens + refusal.reserved_tokens;
    let micros = refusal.spent_micros + refusal.reserved_micros;
    let amount = match (refusal.limit_tokens, refusal.limit_micros) {
        (Some(limit), _) if tokens + spending.tokens > limit => format!(
            "{tokens} of {limit} tokens are spent or reserved; the next model request may take {}",
            spending.tokens
        ),
        (_, Some(limit)) => format!(
            "{} of {} are spent or reserved; the next model request may cost {}",
            dollars(Usd::from_micros(micros)),
            dollars(Usd::from_micros(limit)),
            dollars(spending.cost)
        ),
        _ => "it is spent".to_owned(),
    };
    if !is_of_run(refusal) {
        let (what, day) = subject(refusal);
        let period = if day.is_some() { " of today" } else { "" };
        let message = format!("the budget{period} of `{what}` is not sufficient: {amount}");
        return Failure::new(FailureClass::Budget, message)
            .budget(&refusal.scope)
            .hint("`deft budget show` shows the usage; raise the limit or wait for the next day");
    }
    let (whose, hint) = match whose {
        Some(LimitHolder::Skill(skill)) => (
            format!("the run of `{skill}`"),
            format!("raise the `budget` of `{skill}`"),
        ),
        _ => (
            "the run".to_owned(),
            "raise the `budget` of the skill or of its agent".to_owned(),
        ),
    };
    let message = format!("the budget of {whose} is not sufficient: {amount}");
    Failure::new(FailureClass::Budget, message).hint(hint)
}

/// Whether the spent budget is that of a run.
fn is_of_run(refusal: &Refusal) -> bool {
    let scope = SpendScope::from_name(&refusal.scope);
    scope.is_some_and(|scope| matches!(scope.subject, SpendSubject::Run(_)))
}

/// Returns the holder of the spent budget, and its day if it is a daily one.
fn subject(refusal: &Refusal) -> (String, Option<Date>) {
    match SpendScope::from_name(&refusal.scope) {
        Some(scope) => (scope.subject.to_string(), scope.day),
        None => (refusal.scope.clone(), None),
    }
}

/// Whether the request would fit without the reservations of other calls.
fn is_only_held(refusal: &Refusal, spending: &Spending) -> bool {
    let fits = |limit: Option<u64>, spent: u64, more: u64| {
        limit.is_none_or(|limit| spent.saturating_add(more) <= limit)
    };
    fits(refusal.limit_tokens, refusal.spent_tokens, spending.tokens)
        && fits(
            refusal.limit_micros,
            refusal.spent_micros,
            spending.cost.micros(),
        )
}

/// Returns the failure for a request that only reservations of others prevent. The budget is not spent, so no
/// agent is paused. The failure names no budget, so that later slots of the day are not skipped (`slots.rs`).
fn held_by_others(spending: &Spending, refusal: Refusal) -> BudgetExceeded {
    let (what, _) = subject(&refusal);
    let message = format!(
        "running requests reserve the rest of the budget of {what}; the next model request may take {} tokens",
        spending.tokens
    );
    let failure = Failure::new(FailureClass::Budget, message).hint(
        "try again when the running requests have ended; `deft budget show` shows reservations",
    );
    BudgetExceeded {
        failure,
        scope: refusal.scope,
        then: None,
    }
}

fn dollars(amount: Usd) -> String {
    format!("${:.4}", amount.dollars())
}
