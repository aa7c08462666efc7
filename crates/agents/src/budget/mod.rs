//! What agents may spend: reserved before each question to a model, counted after it.
//!
//! Every question counts against its run, its skill and the skills around that, its agent today, and
//! everything today (`bounds.rs`). What is refused is a failure of class `budget`; what happens then is
//! up to the budget that was spent. What was spent is what the ledger says, also in the row of a run.

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

/// How long a question waits for what other calls hold, and how often it looks. Both pass as calls do,
/// whatever schedules are told of the time.
const PATIENCE: Duration = Duration::from_mins(1);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What one question may cost, and what it counts against.
pub struct Spending {
    agent: String,
    /// The agent that asks, where it was sent out.
    below: Option<String>,
    bounds: Vec<Bound>,
    tokens: u64,
    cost: Usd,
    /// What it takes at least, once it was sent.
    prompt: (u64, Usd),
    at: Timestamp,
}

/// Who pays for a question.
pub struct Payers<'a> {
    /// The agent of the step, and the one that asks where it was sent out: both pay.
    pub agent: &'a str,
    /// The agent that was dispatched.
    pub below: Option<&'a str>,
    /// The skills, the run's own first.
    pub skills: &'a [Payer],
}

/// A question that may not be asked.
pub struct BudgetExceeded {
    /// The failure of the question.
    pub failure: Failure,
    /// The budget.
    pub scope: String,
    /// What is to happen; nothing but that it fails when absent.
    pub then: Option<Exhaustion>,
}

/// A budget that is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhaustion {
    /// What its owner wants to happen.
    pub then: ExhaustedAction,
    /// It is that of the run's skill.
    pub own: bool,
    /// It ends the whole run: it is not that of another skill inside or around.
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
    /// What a question would cost at most, and what it counts against.
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

    /// The most that a question may take and cost, whichever of the models answers that may be asked.
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

    /// Reserves what a question may cost. A person who agreed to more lifts the limits that ask.
    /// What others hold and have not spent is waited for, for a while.
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
        let wish = Reserve {
            key: key.to_owned(),
            scopes: spending.bounds.iter().map(limit).collect(),
            tokens: spending.tokens,
            micros: spending.cost.micros(),
            // The provider has read the prompt of a request that a crash interrupted; the length of
            // its answer is unknown.
            estimate: Estimate {
                agent: spending.agent.clone(),
                tokens: spending.prompt.0,
                micros: spending.prompt.1.micros(),
            },
            at: spending.at,
        };
        let since = Instant::now();
        loop {
            let reserved = self.store().reserve(lease, wish.clone()).await;
            let refusal = match reserved.map_err(|error| unable(&error))? {
                ReservationResult::Granted => return Ok(()),
                ReservationResult::Refused(refusal) => refusal,
            };
            if !is_only_held(&refusal, spending) {
                return Err(self.refused(spending, refusal).await);
            }
            // Calls under way use less than they reserve; the real cost is known soon.
            let soon = tokio::time::sleep(LOOK_AGAIN);
            if since.elapsed() < PATIENCE && halt.run_until_cancelled(soon).await.is_some() {
                continue;
            }
            return Err(held_by_others(spending, refusal));
        }
    }

    /// What a refusal means, and who is paused by it.
    async fn refused(&self, spending: &Spending, refusal: Refusal) -> BudgetExceeded {
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
            // What one run may spend says nothing about the next one.
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

    /// The stored cost of a question after so many requests, with or without an answer.
    pub async fn spent(
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
            "{tokens} of {limit} tokens are spent or reserved, and the next question may take {}",
            spending.tokens
        ),
        (_, Some(limit)) => format!(
            "{} of {} are spent or reserved, and the next question may cost {}",
            dollars(Usd::from_micros(micros)),
            dollars(Usd::from_micros(limit)),
            dollars(spending.cost)
        ),
        _ => "it is spent".to_owned(),
    };
    if !is_of_run(refusal) {
        let (what, day) = subject(refusal);
        let period = if day.is_some() { " of today" } else { "" };
        let message = format!("the budget{period} of `{what}` does not suffice: {amount}");
        return Failure::new(FailureClass::Budget, message)
            .budget(&refusal.scope)
            .hint(
                "`deft budget show` says what was spent; raise the limit or wait for the next day",
            );
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
    let message = format!("the budget of {whose} does not suffice: {amount}");
    Failure::new(FailureClass::Budget, message).hint(hint)
}

/// Whether what one run may spend is spent.
fn is_of_run(refusal: &Refusal) -> bool {
    let scope = SpendScope::from_name(&refusal.scope);
    scope.is_some_and(|scope| matches!(scope.subject, SpendSubject::Run(_)))
}

/// Whose budget is spent, and on which day.
fn subject(refusal: &Refusal) -> (String, Option<Date>) {
    match SpendScope::from_name(&refusal.scope) {
        Some(scope) => (scope.subject.to_string(), scope.day),
        None => (refusal.scope.clone(), None),
    }
}

/// Whether there would be room if no other call were under way.
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

/// The question is not asked, and no agent is paused for it: the budget is not spent. The failure names
/// no budget, so later slots of the day are not skipped (`slots.rs`).
fn held_by_others(spending: &Spending, refusal: Refusal) -> BudgetExceeded {
    let (what, _) = subject(&refusal);
    let message = format!(
        "calls under way reserve the rest of the budget of {what}, and the next question may take {} tokens",
        spending.tokens
    );
    let failure = Failure::new(FailureClass::Budget, message)
        .hint("try again when they have ended; `deft budget show` shows reservations");
    BudgetExceeded {
        failure,
        scope: refusal.scope,
        then: None,
    }
}

fn dollars(amount: Usd) -> String {
    format!("${:.4}", amount.dollars())
}
