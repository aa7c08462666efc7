//! JSON output of `deft schedule`. Instants are strings in the time zone of the skill.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use deft_model::{DisabledReason, Misfire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{words, words_or_null};

/// JSON output of `deft schedule list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleList {
    pub schedules: Vec<ScheduleView>,
}

/// A skill with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleView {
    pub skill: String,
    /// The schedule as a sentence.
    pub words: String,
    /// Whether the skill fires only once, at an instant.
    #[serde(default)]
    pub once: bool,
    pub zone: String,
    pub next: Option<String>,
    pub enabled: bool,
    #[schemars(schema_with = "words_or_null::<DisabledReason>")]
    pub disabled_reason: Option<DisabledReason>,
    /// Number of failures in a row.
    pub failures: u32,
    pub backoff_until: Option<String>,
    #[schemars(schema_with = "words::<Misfire>")]
    pub misfire: Misfire,
    pub misfire_window: String,
}

/// JSON output of `deft schedule next` and `deft schedule preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FiresView {
    pub words: String,
    pub zone: String,
    pub fires: Vec<String>,
    /// The skill; absent in `preview`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Whether the skill is enabled; absent in `preview`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// JSON output of `deft schedule simulate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulationView {
    pub from: String,
    pub to: String,
    pub zone: String,
    pub down: Vec<DowntimeView>,
    pub rows: Vec<SimulatedSlot>,
    /// Number of slots by their simulated result (`what`).
    pub slots: BTreeMap<String, u64>,
}

/// A period during which the machine is down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DowntimeView {
    pub from: String,
    pub to: String,
}

/// Simulated result of one slot, or of several slots in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedSlot {
    pub at: String,
    pub skill: String,
    /// `run`, `skipped`, `coalesced`, `missed` or `open`.
    pub what: String,
    pub late: bool,
    pub slot: String,
    /// Last slot, if the entry covers several.
    pub until: Option<String>,
    pub count: u64,
    pub reason: Option<String>,
}

/// JSON output of `deft remind` and of `deft schedule add`, `pause`, `resume` and `remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleChange {
    pub skill: String,
    /// Name shown to people.
    pub name: String,
    pub change: ScheduleAction,
    /// The schedule as a sentence, with its time zone; null if it was removed.
    pub words: Option<String>,
    pub zone: String,
    /// Next fire.
    pub next: Option<String>,
    /// Next fire in words: "tomorrow at 09:00".
    pub next_words: Option<String>,
    pub enabled: bool,
    #[schemars(schema_with = "words_or_null::<DisabledReason>")]
    pub disabled_reason: Option<DisabledReason>,
    /// Whether a daemon is running. Without one, nothing fires.
    pub daemon_running: bool,
}

/// Change made to a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleAction {
    Set,
    Paused,
    Resumed,
    /// The schedule was removed; the skill stays.
    Removed,
    /// The skill was a reminder and was deleted with its schedule.
    Deleted,
}
