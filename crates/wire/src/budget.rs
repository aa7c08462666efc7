//! Token and cost usage of models, its limits, and paused agents.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{ExhaustedAction, SpendSubject, Usd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::words_or_null;

/// JSON output of `deft budget show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetView {
    /// Today's date, in the time zone of deft.
    pub day: String,
    pub scopes: Vec<BudgetScope>,
    pub paused: Vec<PausedAgent>,
}

/// Usage of one scope, and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetScope {
    #[serde(flatten)]
    pub used: ScopeUsage,
    pub limit_tokens: Option<u64>,
    pub limit_usd: Option<f64>,
    #[schemars(schema_with = "words_or_null::<ExhaustedAction>")]
    pub on_exhausted: Option<ExhaustedAction>,
}

/// Usage of one scope on one day. Scopes are, for example, `all` and `agent:thinker`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeUsage {
    /// The scope, without its day.
    #[schemars(with = "String")]
    pub scope: SpendSubject,
    pub calls: u64,
    /// Calls interrupted by a crash; also counted in `calls`.
    pub estimated_calls: u64,
    /// Estimated tokens of these interrupted calls.
    pub estimated_tokens: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[schemars(with = "f64")]
    pub cost_usd: Usd,
    /// Tokens reserved for calls in progress.
    pub reserved_tokens: u64,
    #[schemars(with = "f64")]
    pub reserved_usd: Usd,
}

/// Usage today, by scope.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// Today's date, in the time zone of deft.
    pub day: String,
    pub scopes: Vec<ScopeUsage>,
    /// Agents that are paused and call no models.
    pub paused: Vec<PausedAgent>,
}

/// A paused agent. It calls no models until the pause ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PausedAgent {
    pub agent: String,
    #[schemars(with = "String")]
    pub since: Timestamp,
    pub reason: String,
    pub until: PauseEnd,
}

/// The condition that ends a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseEnd {
    /// The limit allows calls again, on the next day or after it was raised.
    Limit,
    /// A person resumes the agent.
    Resume,
}

/// JSON output of `deft budget resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeAgentResult {
    /// Always `true`.
    pub ok: bool,
    pub agent: String,
    pub was_paused: bool,
}

/// JSON output of `deft budget set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetChanged {
    /// Always `true`.
    pub ok: bool,
    pub changed: bool,
    pub path: String,
    /// Changed keys with their new values; `null` for a removed limit.
    pub settings: Map<String, Value>,
}
