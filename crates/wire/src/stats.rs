//! Figures for dashboards: outcomes, spending, error rates of tools, planned slots, and revisions of a skill.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use deft_model::{SpendSubject, Usd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many days to count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DaysQuery {
    /// Up to 366, today included; 30 if it is not given.
    #[schemars(range(min = 1, max = 366))]
    pub days: Option<u32>,
}

/// How runs ended, by skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomeStats {
    /// The first day, in the zone of deft.
    pub from: String,
    /// Today.
    pub to: String,
    pub skills: Vec<SkillOutcomes>,
}

/// How the runs of a skill ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillOutcomes {
    pub skill: String,
    pub runs: u64,
    /// Runs by outcome; those that are not over have none.
    pub outcomes: BTreeMap<String, u64>,
    /// Days with runs, oldest first.
    pub days: Vec<DayOutcomes>,
}

/// How the runs of a day ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DayOutcomes {
    pub day: String,
    pub outcomes: BTreeMap<String, u64>,
}

/// What models cost, by day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpendStats {
    pub from: String,
    pub to: String,
    /// Days on which a model was called, oldest first.
    pub days: Vec<DaySpend>,
}

/// What models cost on a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DaySpend {
    pub day: String,
    /// Everything, and then each skill and agent; do not add these up.
    pub scopes: Vec<ScopeSpend>,
}

/// What a skill, an agent or everything cost.
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

/// How many events to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ToolStatsQuery {
    /// So many of the newest events are read, up to 200000; 20000 if it is not given.
    #[schemars(range(min = 1, max = 200_000))]
    pub events: Option<u32>,
}

/// How often calls of tools failed, as the newest events tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolStats {
    /// When the first of the calls ended that are counted; null if there were none.
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// How many events were read.
    pub events: u64,
    /// Whether these are all events that are stored. Otherwise there are older calls, which are not counted.
    pub complete: bool,
    /// The most failures first.
    pub tools: Vec<ToolFailures>,
}

/// How often calls of a tool failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolFailures {
    pub tool: String,
    pub calls: u64,
    pub errors: u64,
    /// `errors` of `calls`, from 0 to 1.
    pub error_rate: f64,
    /// Failures by class.
    pub classes: BTreeMap<String, u64>,
    pub last_error: Option<String>,
    #[schemars(with = "Option<String>")]
    pub last_error_at: Option<Timestamp>,
}

/// Which planned slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SlotQuery {
    /// Now if it is not given.
    pub from: Option<String>,
    /// A day after `from` if it is not given.
    pub to: Option<String>,
    /// The most slots, up to 1000; 100 if it is not given.
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
}

/// Planned slots, the earliest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotList {
    pub from: String,
    pub to: String,
    pub slots: Vec<SlotView>,
    /// Whether there are more slots before `to`.
    pub more: bool,
}

/// A planned slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlotView {
    pub skill: String,
    pub at: String,
}

/// The revisions of a skill that deft has stored, the latest first.
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

/// A revision with its text, and its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevisionDocument {
    pub skill: String,
    pub revision: String,
    /// The skill as deft stored it.
    pub text: String,
    /// The revision that it is compared with; null for the first one.
    pub base: Option<String>,
    /// The difference to `base`, as a unified diff; null without one.
    pub diff: Option<String>,
}
