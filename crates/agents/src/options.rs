//! Settings of agents (`[agent]`, `[budget]` and `[chat]` in the configuration).

use std::collections::BTreeMap;

use deft_model::{DEFAULT_AGENT, ExhaustedAction};

/// Settings for agents that do not set their own.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentOptions {
    /// The default agent for chats.
    pub default: String,
    /// The model for agents that name none; may be absent if only one model is configured.
    pub llm: Option<String>,
    /// Tools that need a person's approval: names, prefixes followed by `*`, or `destructive`.
    pub approve: Vec<String>,
    /// Tools that a chat may use: names, patterns, or `needed` for all tools, offered as they are needed.
    pub tools: Vec<String>,
    /// If the descriptions of all tools take at most this many tokens, all tools are offered.
    pub offer_tokens: u64,
    /// Information about the user for prompts.
    pub user: String,
    /// Maximum number of requests to a model in a chat turn.
    pub max_steps: u32,
    /// Maximum number of calls by the models of one run.
    pub max_calls: u32,
    /// Whether runs fired by a schedule may store further schedules.
    pub may_schedule: bool,
    /// Maximum nesting depth of dispatched agents.
    pub max_depth: u32,
    /// Maximum number of agents that one turn may dispatch.
    pub fan_out: u32,
    /// Maximum number of tokens of the history that a model gets.
    pub history_tokens: u64,
    /// Limits on spending, until [`Agents::set_budgets`](crate::Agents::set_budgets) replaces them.
    pub budgets: Budgets,
}

/// Limits on what agents may spend per day.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budgets {
    /// The limit for all agents together.
    pub all: DayBudget,
    /// The limits for single agents.
    pub agents: BTreeMap<String, DayBudget>,
}

/// A limit on what may be spent per day, and the threshold for unusual consumption.
#[derive(Clone, Debug, PartialEq)]
pub struct DayBudget {
    /// Maximum number of tokens, input and output together.
    pub tokens: Option<u64>,
    /// Maximum cost in US dollars.
    pub usd: Option<f64>,
    /// The action when the budget is spent.
    pub on_exhausted: ExhaustedAction,
    /// An agent that uses more tokens than this within an hour is paused.
    pub spike_tokens: Option<u64>,
    /// An agent that uses more than this multiple of its usual hourly tokens is paused.
    pub spike_factor: Option<f64>,
}

/// Default thresholds: an agent is paused if it uses more than this many tokens within an hour, and more than
/// this multiple of its usual hour.
const SPIKE_TOKENS: u64 = 500_000;
const SPIKE_FACTOR: u64 = 20;

impl DayBudget {
    /// Returns the number of tokens within an hour above which an agent is paused, given its usual number.
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
