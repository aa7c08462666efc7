//! Settings of agents (`[agent]`, `[budget]` and `[chat]` in the configuration).

use std::collections::BTreeMap;

use deft_model::{DEFAULT_AGENT, ExhaustedAction};

/// How agents behave that say nothing themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOptions {
    /// The agent of a chat that names none.
    pub default: String,
    /// The model of agents that name none; the only one when absent.
    pub llm: Option<String>,
    /// Tools that need a person's yes: names, beginnings followed by `*`, or `destructive`.
    pub approve: Vec<String>,
    /// Tools that a chat may use: names, patterns, or `needed` for all, offered as they are needed.
    pub tools: Vec<String>,
    /// Where all tools together take no more tokens than this, all of them are offered.
    pub offer_tokens: u64,
    /// What agents should know of the person.
    pub user: String,
    /// The most times a model is asked in a chat turn.
    pub max_steps: u32,
    /// How many calls the models of one run may make.
    pub max_calls: u32,
    /// Whether what fires by itself may store further schedules.
    pub may_schedule: bool,
    /// How deep agents may dispatch agents.
    pub max_depth: u32,
    /// How many agents one turn may dispatch.
    pub fan_out: u32,
    /// How much of a conversation a model is told, in tokens.
    pub history_tokens: u64,
    /// What may be spent, until [`Agents::set_budgets`](crate::Agents::set_budgets).
    pub budgets: Budgets,
}

/// What agents may spend in a day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budgets {
    /// All of them together.
    pub all: DayBudget,
    /// Single ones.
    pub agents: BTreeMap<String, DayBudget>,
}

/// What may be spent in a day, and what is unusual.
#[derive(Clone, Debug, PartialEq)]
pub struct DayBudget {
    /// Tokens, in and out together.
    pub tokens: Option<u64>,
    /// Money.
    pub usd: Option<f64>,
    /// What happens when it is spent.
    pub on_exhausted: ExhaustedAction,
    /// An agent that takes more tokens than this within an hour is paused.
    pub spike_tokens: Option<u64>,
    /// One that takes so many times its usual hour is paused.
    pub spike_factor: Option<f64>,
}

/// Where nothing is said, an agent is paused beyond so many tokens within an hour, and only if that
/// is so many times its usual hour.
const SPIKE_TOKENS: u64 = 500_000;
const SPIKE_FACTOR: u64 = 20;

impl DayBudget {
    /// How many tokens within an hour are too many, given the usual ones.
    pub(crate) fn spike(&self, usual: u64) -> u64 {
        let by_factor = self.spike_factor.filter(|_| usual > 0);
        let by_factor = by_factor.map(|factor| times(usual, factor));
        match (self.spike_tokens, by_factor) {
            (Some(tokens), Some(times)) => tokens.min(times),
            (Some(limit), None) | (None, Some(limit)) => limit,
            (None, None) => SPIKE_TOKENS.max(usual.saturating_mul(SPIKE_FACTOR)),
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a threshold need not be exact"
)]
fn times(tokens: u64, factor: f64) -> u64 {
    (tokens as f64 * factor.max(1.0)) as u64
}

impl Default for DayBudget {
    fn default() -> Self {
        Self {
            tokens: None,
            usd: None,
            on_exhausted: ExhaustedAction::Pause,
            spike_tokens: None,
            spike_factor: None,
        }
    }
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            default: DEFAULT_AGENT.to_owned(),
            llm: None,
            approve: vec!["destructive".to_owned()],
            tools: vec!["*".to_owned()],
            offer_tokens: 1_000,
            user: String::new(),
            max_steps: 10,
            max_calls: 100,
            may_schedule: false,
            max_depth: 2,
            fan_out: 4,
            history_tokens: 12_000,
            budgets: Budgets::default(),
        }
    }
}
