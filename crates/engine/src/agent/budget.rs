//! What agents may spend: reserved before each question to a model, counted after it.
//!
//! Every question counts against its run, its skill and its agent today, and everything today. What
//! is refused is a failure of class `budget`; what happens then is up to the budget that was spent.

use deft_llm::{Answer, Price};
use deft_model::{
    Budget, BudgetPeriod, Exhausted, Failure, FailureClass, Message, ModelRequest, Outcome,
    estimate_tokens,
};
use deft_store::{
    Lease, Limit, NewNotice, Refusal, Reserve, Reserved, RunFilter, RunRow, Spend, SpentFilter,
    Write,
};
use jiff::{SignedDuration, Timestamp};

use super::options::DayBudget;
use crate::Engine;
use crate::engine::Inner;
use crate::notice::{Kind, Notice};
use crate::skills::Pinned;

/// How far back the usual consumption of an agent is looked up.
const USUAL: SignedDuration = SignedDuration::from_hours(24);

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// What one question may cost, and what it counts against.
pub(crate) struct Spending {
    agent: String,
    bounds: Vec<Bound>,
    tokens: u64,
    micros: u64,
    price: Option<Price>,
    at: Timestamp,
}

/// A limit, and what happens when it is reached.
struct Bound {
    limit: Limit,
    then: Exhausted,
    /// The skill says so, and is what is paused.
    of_skill: bool,
}

/// A question that may not be asked.
pub(crate) struct Broke {
    pub(crate) failure: Failure,
    pub(crate) scope: String,
    /// What is to happen, and whether the skill says so.
    pub(crate) then: Exhausted,
    pub(crate) of_skill: bool,
}

/// The name under which an agent is paused.
pub(crate) fn pause_key(agent: &str) -> String {
    format!("agent:{agent}")
}

/// The name under which it is kept when a person let an agent go on.
fn resumed_key(agent: &str) -> String {
    format!("resumed agent:{agent}")
}

impl Inner {
    /// What a question would cost at most, and what it counts against. One that an agent asks which
    /// was sent out counts against both: the one that it is `below` of pays.
    pub(crate) async fn spending(
        &self,
        run: &RunRow,
        (agent, below): (&str, Option<&str>),
        model: &str,
        request: &ModelRequest,
    ) -> Spending {
        let now = self.now();
        let models = self.models();
        let options = models.options(model);
        let most = request.max_tokens.or(options.map(|model| model.max_tokens));
        let (input, output) = (request_tokens(request), u64::from(most.unwrap_or(0)));
        let price = options.and_then(|model| model.price);
        let pinned = self.pinned(&run.skill, &run.revision).await.ok();
        let policy = pinned.as_ref().map(|pinned| &pinned.skill.policy);
        let budget = policy.and_then(|policy| policy.budget.as_ref());
        let zone = policy.and_then(|policy| policy.timezone.clone());
        let defined = self.agent_definition(agent);
        let of_agent = self.options.agent.budgets.get(agent);
        let all = &self.options.agent.budget;
        let today = now.to_zoned(self.host_zone()).date();
        let skills_day = zone.and_then(|zone| now.in_tz(&zone).ok());
        let skills_day = skills_day.map_or(today, |zoned| zoned.date());
        let skills = format!("skill:{}@{skills_day}", run.skill);
        let mut bounds = vec![
            of_skill(format!("run:{}", run.id), budget, BudgetPeriod::Run),
            of_skill(skills, budget, BudgetPeriod::Day),
            of_day(
                format!("agent:{agent}@{today}"),
                of_agent.or(Some(all)),
                of_agent,
            ),
            of_day(format!("all@{today}"), Some(all), Some(all)),
        ];
        if let Some(own) = defined.and_then(|agent| agent.budget.clone()) {
            bounds.push(of_agent_file(agent, &own, run, today));
        }
        if let Some(below) = below.filter(|below| *below != agent) {
            let configured = self.options.agent.budgets.get(below);
            let scope = format!("agent:{below}@{today}");
            bounds.push(of_day(scope, configured.or(Some(all)), configured));
            let defined = self.agent_definition(below);
            if let Some(own) = defined.and_then(|agent| agent.budget.clone()) {
                bounds.push(of_agent_file(below, &own, run, today));
            }
        }
        Spending {
            agent: agent.to_owned(),
            bounds,
            tokens: input.saturating_add(output),
            micros: price.map_or(0, |price| {
                micros(price.input * millions(input) + price.output * millions(output))
            }),
            price,
            at: now,
        }
    }

    /// Reserves what a question may cost. A person who agreed to more lifts the limits.
    pub(crate) async fn reserve(
        &self,
        spending: &Spending,
        lease: &Lease,
        key: &str,
        lifted: bool,
    ) -> Result<(), Broke> {
        let unable = |error: deft_store::Error| Broke {
            failure: Failure::new(FailureClass::Other, error.to_string()),
            scope: String::new(),
            then: Exhausted::Skip,
            of_skill: false,
        };
        let store = &self.parts.store;
        let paused = store.held(&pause_key(&spending.agent)).await;
        if let Some(since) = paused.map_err(unable)? {
            return Err(Broke {
                failure: paused_failure(&spending.agent, since),
                scope: pause_key(&spending.agent),
                then: Exhausted::Skip,
                of_skill: false,
            });
        }
        let unlimited = |limit: &Limit| Limit {
            scope: limit.scope.clone(),
            tokens: None,
            micros: None,
        };
        let limits = spending.bounds.iter().map(|bound| &bound.limit);
        let scopes = if lifted {
            limits.map(unlimited).collect()
        } else {
            limits.cloned().collect()
        };
        let wish = Reserve {
            key: key.to_owned(),
            scopes,
            tokens: spending.tokens,
            micros: spending.micros,
            at: spending.at,
        };
        match store.reserve(lease, wish).await.map_err(unable)? {
            Reserved::Granted => Ok(()),
            Reserved::Refused(refusal) => {
                let reached = |bound: &&Bound| {
                    let limit = &bound.limit;
                    limit.scope == refusal.scope
                        && limit.tokens == refusal.limit_tokens
                        && limit.micros == refusal.limit_micros
                };
                let reached = spending.bounds.iter().find(reached);
                let (then, of_skill) = reached.map_or((Exhausted::Skip, false), |bound| {
                    (bound.then, bound.of_skill)
                });
                let failure = spent_failure(&refusal, spending);
                if !of_skill && then == Exhausted::Pause {
                    let (agent, text) = (&spending.agent, failure.to_string());
                    self.pause_agent(agent, &text, &refusal.scope).await;
                }
                Err(Broke {
                    failure,
                    then,
                    of_skill,
                    scope: refusal.scope,
                })
            }
        }
    }

    /// What is stored of a question that was answered, or was not.
    pub(crate) async fn spent(
        &self,
        spending: &Spending,
        key: &str,
        answer: Option<&Answer>,
    ) -> Vec<Write> {
        let key = key.to_owned();
        let Some(answer) = answer else {
            return vec![Write::Unreserve { key }];
        };
        let usage = answer.reply.usage;
        let cost = answer.cost_usd.or_else(|| {
            let price = spending.price?;
            Some(price.input * millions(usage.input) + price.output * millions(usage.output))
        });
        self.look_for_spike(spending, usage.total()).await;
        vec![Write::Spend(Spend {
            key,
            scopes: spending
                .bounds
                .iter()
                .map(|bound| bound.limit.scope.clone())
                .collect(),
            tokens_in: usage.input,
            tokens_out: usage.output,
            micros: cost.map_or(0, micros),
            calls: u64::from(answer.tries.max(1)),
            agent: spending.agent.clone(),
            at: self.now(),
        })]
    }

    /// Pauses an agent that takes far more than it usually does (S0.55), and tells people (S0.74).
    async fn look_for_spike(&self, spending: &Spending, more: u64) {
        let (agent, now) = (&spending.agent, self.now());
        let budgets = &self.options.agent;
        let rule = budgets.budgets.get(agent).unwrap_or(&budgets.budget);
        let from = now.saturating_sub(USUAL).unwrap_or(Timestamp::MIN);
        let Ok(usage) = self.parts.store.usage_since(agent, from).await else {
            return;
        };
        let hour = now.saturating_sub(HOUR).unwrap_or(Timestamp::MIN);
        // What a person has let pass counts no more.
        let resumed = self.parts.store.setting(&resumed_key(agent)).await;
        let resumed = resumed.ok().flatten().and_then(|text| text.parse().ok());
        let hour = hour.max(resumed.unwrap_or(Timestamp::MIN));
        let (present, before): (Vec<_>, Vec<_>) = usage.iter().partition(|row| row.bucket > hour);
        let taken = present.iter().map(|row| row.tokens).sum::<u64>() + more;
        let hours = before.first().map_or(1, |first| {
            hour.duration_since(first.bucket).as_hours().max(1)
        });
        let usual = before.iter().map(|row| row.tokens).sum::<u64>();
        let usual = usual / u64::try_from(hours).unwrap_or(1);
        let threshold = rule.spike(usual);
        if taken <= threshold {
            return;
        }
        let why = format!(
            "it took {taken} tokens within an hour, more than {threshold} (usual: {usual})"
        );
        self.pause_agent(agent, &why, &deft_store::bucket(now).to_string())
            .await;
    }

    /// Lets an agent ask no more until a person says so, and tells people once.
    async fn pause_agent(&self, agent: &str, why: &str, incident: &str) {
        let (key, now) = (pause_key(agent), self.now());
        if !matches!(self.parts.store.held(&key).await, Ok(None)) {
            return;
        }
        tracing::warn!(%agent, %why, "the agent is paused");
        if let Err(error) = self.parts.store.hold(&key, true, now).await {
            tracing::warn!(%agent, %error, "the agent could not be paused");
            return;
        }
        let notice = Notice {
            kind: Kind::Paused,
            title: format!("agent {agent} is paused"),
            text: format!(
                "agent `{agent}` is paused: {why}\n`deft budget resume {agent}` lets it go on"
            ),
            skill: None,
            run: None,
            target: None,
            approval: None,
        };
        let added = self.parts.store.add_notice(NewNotice {
            key: format!("{key} {incident}"),
            skill: None,
            body: notice.body(),
            at: now,
        });
        if let Err(error) = added.await {
            tracing::warn!(%agent, %error, "nobody could be told that the agent is paused");
        }
        self.bells.messages.notify_waiters();
    }

    /// Why a scheduled run would only be in vain: its budget of the day is spent, and it is to be
    /// skipped then.
    pub(crate) async fn budget_spent(&self, pinned: &Pinned) -> Option<String> {
        let skill = &pinned.skill;
        let budget = skill.policy.budget.as_ref()?;
        let skips = budget.on_exhausted == Exhausted::Skip && budget.per == BudgetPeriod::Day;
        if !skips {
            return None;
        }
        let zone = skill.policy.timezone.as_deref();
        let day = zone.and_then(|zone| self.now().in_tz(zone).ok());
        let day = day.unwrap_or_else(|| self.now().to_zoned(self.host_zone()));
        let filter = SpentFilter {
            scope: Some(format!("skill:{}@{}", skill.id, day.date())),
            ..SpentFilter::default()
        };
        let rows = self.parts.store.spent(filter).await.ok()?;
        let spent = rows.first()?;
        if let Some(why) = self.refused_today(pinned, day.date()).await {
            return Some(why);
        }
        let tokens = spent.tokens_in + spent.tokens_out;
        let over = budget.tokens.is_some_and(|limit| tokens >= limit)
            || budget
                .cost_usd
                .map(micros)
                .is_some_and(|limit| spent.micros >= limit);
        over.then(|| {
            format!(
                "its budget of today is spent: {tokens} tokens, {}",
                dollars(spent.micros)
            )
        })
    }
}

impl Inner {
    /// What the last run of today was told when its budget of the day did not suffice; the next one
    /// would be told the same.
    async fn refused_today(&self, pinned: &Pinned, day: jiff::civil::Date) -> Option<String> {
        let filter = RunFilter {
            skill: Some(pinned.skill.id.to_string()),
            outcomes: vec![Outcome::Error, Outcome::Success],
            limit: Some(1),
            ..RunFilter::default()
        };
        let last = self.parts.store.runs(filter).await.ok()?.pop()?;
        let zone = pinned.skill.policy.timezone.as_deref();
        let zoned = zone.and_then(|zone| last.admitted_at.in_tz(zone).ok());
        let zoned = zoned.unwrap_or_else(|| last.admitted_at.to_zoned(self.host_zone()));
        if zoned.date() != day || last.revision != pinned.revision {
            return None;
        }
        let error = serde_json::from_str::<Failure>(last.error.as_deref()?).ok()?;
        let of_skill = format!("`skill:{}`", pinned.skill.id);
        let refused = error.class == FailureClass::Budget && error.message.contains(&of_skill);
        refused.then_some(error.message)
    }
}

impl Engine {
    /// Lets a paused agent go on. Says whether it was paused.
    pub async fn resume_agent(&self, agent: &str) -> Result<bool, crate::Error> {
        let key = pause_key(agent);
        let paused = self.store().held(&key).await?.is_some();
        let now = self.inner.now();
        let noted = self
            .store()
            .keep_setting(&resumed_key(agent), &now.to_string());
        noted.await?;
        self.store().hold(&key, false, now).await?;
        self.inner.stir();
        Ok(paused)
    }

    /// Since when an agent is paused.
    pub async fn agent_paused(&self, agent: &str) -> Result<Option<Timestamp>, crate::Error> {
        Ok(self.store().held(&pause_key(agent)).await?)
    }
}

fn of_skill(scope: String, budget: Option<&Budget>, period: BudgetPeriod) -> Bound {
    let budget = budget.filter(|budget| budget.per == period);
    Bound {
        limit: Limit {
            scope,
            tokens: budget.and_then(|budget| budget.tokens),
            micros: budget.and_then(|budget| budget.cost_usd).map(micros),
        },
        then: budget.map_or(Exhausted::Pause, |budget| budget.on_exhausted),
        of_skill: true,
    }
}

/// The budget in the AGENT.md of an agent.
fn of_agent_file(agent: &str, own: &Budget, run: &RunRow, today: jiff::civil::Date) -> Bound {
    let scope = match own.per {
        BudgetPeriod::Day => format!("agent:{agent}@{today}"),
        BudgetPeriod::Run => format!("run:{}", run.id),
    };
    Bound {
        of_skill: false,
        ..of_skill(scope, Some(own), own.per)
    }
}

/// A budget of the configuration; who has none of their own goes by the `rule` of all.
fn of_day(scope: String, rule: Option<&DayBudget>, budget: Option<&DayBudget>) -> Bound {
    Bound {
        limit: Limit {
            scope,
            tokens: budget.and_then(|budget| budget.tokens),
            micros: budget.and_then(|budget| budget.usd).map(micros),
        },
        then: rule.map_or(Exhausted::Pause, |rule| rule.on_exhausted),
        of_skill: false,
    }
}

/// A rough count of what a model has to read.
fn request_tokens(request: &ModelRequest) -> u64 {
    let system = request
        .system
        .iter()
        .map(|part| estimate_tokens(&part.text));
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text } | Message::Tool { text, .. } => estimate_tokens(text),
        Message::Assistant { text, calls, .. } => {
            let calls = serde_json::to_string(calls).unwrap_or_default();
            estimate_tokens(text) + estimate_tokens(&calls)
        }
    });
    let tools = request.tools.iter().map(|tool| {
        let schema = tool.schema.to_string();
        estimate_tokens(&tool.description) + estimate_tokens(&schema)
    });
    system.chain(messages).chain(tools).sum()
}

#[expect(clippy::cast_precision_loss, reason = "prices are rough anyway")]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an amount of money is neither negative nor astronomical"
)]
fn micros(usd: f64) -> u64 {
    (usd.max(0.0) * 1e6).ceil() as u64
}

fn spent_failure(refusal: &Refusal, spending: &Spending) -> Failure {
    let (what, day) = refusal
        .scope
        .split_once('@')
        .unwrap_or((&refusal.scope, ""));
    let period = if day.is_empty() { "" } else { " of today" };
    let amount = match (refusal.limit_tokens, refusal.limit_micros) {
        (Some(limit), _)
            if refusal.spent_tokens + refusal.reserved_tokens + spending.tokens > limit =>
        {
            format!(
                "{} of {limit} tokens are spent or reserved, and the next question may take {}",
                refusal.spent_tokens + refusal.reserved_tokens,
                spending.tokens
            )
        }
        (_, Some(limit)) => format!(
            "{} of {} are spent or reserved, and the next question may cost {}",
            dollars(refusal.spent_micros + refusal.reserved_micros),
            dollars(limit),
            dollars(spending.micros)
        ),
        _ => "it is spent".to_owned(),
    };
    if what.starts_with("run:") {
        let message = format!("the budget of the run does not suffice: {amount}");
        return Failure::new(FailureClass::Budget, message)
            .hint("raise the `budget` of the skill or of its agent");
    }
    let message = format!("the budget{period} of `{what}` does not suffice: {amount}");
    Failure::new(FailureClass::Budget, message)
        .hint("`deft budget show` says what was spent; raise the limit or wait for the next day")
}

#[expect(clippy::cast_precision_loss, reason = "shown with four digits")]
fn dollars(micros: u64) -> String {
    format!("${:.4}", micros as f64 / 1e6)
}

fn paused_failure(agent: &str, since: Timestamp) -> Failure {
    let message = format!("agent `{agent}` is paused since {since}");
    Failure::new(FailureClass::Budget, message)
        .hint(format!("`deft budget resume {agent}` lets it go on"))
}
