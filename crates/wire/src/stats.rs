//! Statistics for dashboards: outcomes, spending, error rates of tools, planned slots, and revisions of a
//! skill.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use deft_model::{SpendSubject, Usd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Query parameter for the number of days to count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DaysQuery {
    /// Number of days, up to 366, including today. Default: 30.
    #[schemars(range(min = 1, max = 366))]
    pub days: Option<u32>,
}

/// Outcomes of runs, by skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeStats {
    /// First day, in the time zone of deft.
    pub from: String,
    /// Last day: today.
    pub to: String,
    pub skills: Vec<SkillOutcomes>,
}

/// Outcomes of a skill's runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillOutcomes {
    pub skill: String,
    pub runs: u64,
    /// Number of runs by outcome. Runs that have not ended have no outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Days with runs, oldest first.
    pub days: Vec<DayOutcomes>,
}

/// Outcomes of one day's runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DayOutcomes {
    pub day: String,
    pub outcomes: BTreeMap<String, u64>,
}

/// Cost of models, by day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpendStats {
    pub from: String,
    pub to: String,
    /// Days on which a model was called, oldest first.
    pub days: Vec<DaySpend>,
}

/// Cost of models on one day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaySpend {
    pub day: String,
    /// The total, followed by each skill and agent. Do not sum these: the total contains the others.
    pub scopes: Vec<ScopeSpend>,
}

/// Usage and cost of a skill, of an agent, or in total.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeSpend {
    #[schemars(with = "String")]
    pub scope: SpendSubject,
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[schemars(with = "f64")]
    pub cost_usd: Usd,
}

/// Query parameter for the number of events to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolStatsQuery {
    /// Number of newest events to read, up to 200000. Default: 20000.
    #[schemars(range(min = 1, max = 200_000))]
    pub events: Option<u32>,
}

/// Error rates of tools, computed from the newest events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStats {
    /// When the oldest counted call ended; null if no call was counted.
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// Number of events read.
    pub events: u64,
    /// Whether all stored events were read. If false, older calls were not counted.
    pub complete: bool,
    /// Tools, those with the most failures first.
    pub tools: Vec<ToolFailures>,
}

/// Calls and failures of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFailures {
    pub tool: String,
    pub calls: u64,
    pub errors: u64,
    /// `errors` divided by `calls`, from 0 to 1.
    pub error_rate: f64,
    /// Number of failures by class.
    pub classes: BTreeMap<String, u64>,
    pub last_error: Option<String>,
    #[schemars(with = "Option<String>")]
    pub last_error_at: Option<Timestamp>,
}

/// Query parameters for listing planned slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlotQuery {
    /// Start of the period. Default: now.
    pub from: Option<String>,
    /// End of the period. Default: one day after `from`.
    pub to: Option<String>,
    /// Maximum number of slots, up to 1000. Default: 100.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

/// Planned slots, earliest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotList {
    pub from: String,
    pub to: String,
    pub slots: Vec<SlotView>,
    /// Whether the period contains more slots than are listed.
    pub more: bool,
}

/// A planned slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotView {
    pub skill: String,
    pub at: String,
}

/// Stored revisions of a skill, latest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionList {
    pub skill: String,
    pub revisions: Vec<RevisionView>,
}

/// A revision of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionView {
    pub revision: String,
    /// Whether the next run uses it.
    pub current: bool,
    pub runs: u64,
    #[schemars(with = "Option<String>")]
    pub first_run_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub last_run_at: Option<Timestamp>,
}

/// A revision with its text and its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionDocument {
    pub skill: String,
    pub revision: String,
    /// Text of the skill, as stored.
    pub text: String,
    /// Revision that this one is compared with; null for the first revision.
    pub base: Option<String>,
    /// Unified diff from `base` to this revision; null if `base` is null.
    pub diff: Option<String>,
}
