//! Settings of agents (`[agent]`, `[budget]` and `[chat]` in the configuration).

use std::collections::BTreeMap;

use deft_model::Exhausted;

/// How agents behave that say nothing themselves.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// The agent of a chat that names none.
    pub default: String,
    /// The model of agents that name none; the only one when absent.
    pub llm: Option<String>,
    /// Tools that need a person's yes: names, beginnings followed by `*`, or `destructive`.
    pub approve: Vec<String>,
    /// Tools that a chat may use.
    pub tools: Vec<String>,
    /// The most times a model is asked in a chat turn.
    pub max_steps: u32,
    /// Whether what fires by itself may store further schedules.
    pub may_schedule: bool,
    /// How deep agents may dispatch agents.
    pub max_depth: u32,
    /// How many agents one turn may dispatch.
    pub fan_out: u32,
    /// How much of a conversation a model is told, in tokens.
    pub history_tokens: u64,
    /// What all agents together may spend in a day.
    pub budget: DayBudget,
    /// What single agents may spend.
    pub budgets: BTreeMap<String, DayBudget>,
}

/// What may be spent in a day, and what is unusual.
#[derive(Clone, Debug, PartialEq)]
pub struct DayBudget {
    /// Tokens, in and out together.
    pub tokens: Option<u64>,
    /// Money.
    pub usd: Option<f64>,
    /// What happens when it is spent.
    pub on_exhausted: Exhausted,
    /// An agent that takes more than this in ten minutes is looked at.
    pub spike_tokens: u64,
    /// It is paused when that is so many times what it usually takes.
    pub spike_factor: u32,
}

impl Default for DayBudget {
    fn default() -> Self {
        Self {
            tokens: None,
            usd: None,
            on_exhausted: Exhausted::Pause,
            spike_tokens: 500_000,
            spike_factor: 10,
        }
    }
}

impl Default for AgentOptions {
    fn default() -> Self {
        Self {
            default: "thinker".to_owned(),
            llm: None,
            approve: vec!["destructive".to_owned()],
            tools: vec!["*".to_owned()],
            max_steps: 10,
            may_schedule: false,
            max_depth: 2,
            fan_out: 4,
            history_tokens: 16_000,
            budget: DayBudget::default(),
            budgets: BTreeMap::new(),
        }
    }
}
