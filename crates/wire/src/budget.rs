//! What models used, the limits, and agents that are paused.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{ExhaustedAction, SpendSubject, Usd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::words_or_null;

/// The document of `deft budget show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetView {
    /// Today, in the zone of deft.
    pub day: String,
    pub scopes: Vec<BudgetScope>,
    pub paused: Vec<PausedAgent>,
}

/// What was used in one scope, and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetScope {
    #[serde(flatten)]
    pub used: ScopeUsage,
    pub limit_tokens: Option<u64>,
    pub limit_usd: Option<f64>,
    #[schemars(schema_with = "words_or_null::<ExhaustedAction>")]
    pub on_exhausted: Option<ExhaustedAction>,
}

/// What was used on one day in one scope, such as `all` or `agent:thinker`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeUsage {
    /// Without the day.
    #[schemars(with = "String")]
    pub scope: SpendSubject,
    pub calls: u64,
    /// Calls that a crash interrupted, which count in `calls` too.
    pub estimated_calls: u64,
    /// The tokens that are estimated for them.
    pub estimated_tokens: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[schemars(with = "f64")]
    pub cost_usd: Usd,
    /// What calls in progress may still use.
    pub reserved_tokens: u64,
    #[schemars(with = "f64")]
    pub reserved_usd: Usd,
}

/// What was used today.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spending {
    /// Today, in the zone of deft.
    pub day: String,
    pub scopes: Vec<ScopeUsage>,
    /// Agents that call no model for now.
    pub paused: Vec<PausedAgent>,
}

/// An agent that calls no model for now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PausedAgent {
    pub agent: String,
    #[schemars(with = "String")]
    pub since: Timestamp,
    pub reason: String,
    pub until: PauseEnd,
}

/// What ends a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseEnd {
    /// The limit allows calls again: on the next day, or because it was raised.
    Limit,
    /// A person resumes the agent.
    Resume,
}

/// The document of `deft budget resume`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentResumed {
    /// Always `true`.
    pub ok: bool,
    pub agent: String,
    pub was_paused: bool,
}

/// The document of `deft budget set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BudgetChanged {
    /// Always `true`.
    pub ok: bool,
    pub changed: bool,
    pub path: String,
    /// Keys with their new values; `null` for a limit that was removed.
    pub settings: Map<String, Value>,
}
