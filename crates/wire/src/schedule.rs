//! The documents of `deft schedule`. Instants are text, in the zone of the skill.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use deft_model::{DisabledReason, Misfire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::{words, words_or_null};

/// The document of `deft schedule list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleList {
    pub schedules: Vec<ScheduleView>,
}

/// A skill with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleView {
    pub skill: String,
    /// The schedule in a sentence.
    pub words: String,
    /// Whether it fires once, at an instant.
    #[serde(default)]
    pub once: bool,
    pub zone: String,
    pub next: Option<String>,
    pub enabled: bool,
    #[schemars(schema_with = "words_or_null::<DisabledReason>")]
    pub disabled_reason: Option<DisabledReason>,
    /// Failures in a row.
    pub failures: u32,
    pub backoff_until: Option<String>,
    #[schemars(schema_with = "words::<Misfire>")]
    pub misfire: Misfire,
    pub misfire_window: String,
}

/// The document of `deft schedule next` and `deft schedule preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FiresView {
    pub words: String,
    pub zone: String,
    pub fires: Vec<String>,
    /// The skill; `preview` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// Whether the skill is enabled; `preview` has no skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// The document of `deft schedule simulate`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulationView {
    pub from: String,
    pub to: String,
    pub zone: String,
    pub down: Vec<DowntimeView>,
    pub rows: Vec<SimulatedSlot>,
    /// The number of slots by the word of what becomes of them.
    pub slots: BTreeMap<String, u64>,
}

/// A period during which the machine is down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DowntimeView {
    pub from: String,
    pub to: String,
}

/// What becomes of a slot, or of several in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedSlot {
    pub at: String,
    pub skill: String,
    /// `run`, `skipped`, `coalesced`, `missed` or `open`.
    pub what: String,
    pub late: bool,
    pub slot: String,
    /// The last of several slots.
    pub until: Option<String>,
    pub count: u64,
    pub reason: Option<String>,
}

/// The document of `deft remind` and of `deft schedule add`, `pause`, `resume` and `remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleChange {
    pub skill: String,
    /// Its name for people.
    pub name: String,
    pub change: ScheduleAction,
    /// The schedule in a sentence, with its zone; none after it was removed.
    pub words: Option<String>,
    pub zone: String,
    /// The next fire.
    pub next: Option<String>,
    /// The next fire in words: "tomorrow at 09:00".
    pub next_words: Option<String>,
    pub enabled: bool,
    #[schemars(schema_with = "words_or_null::<DisabledReason>")]
    pub disabled_reason: Option<DisabledReason>,
    /// Whether a daemon is up, without which nothing fires.
    pub daemon_running: bool,
}

/// What became of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleAction {
    Set,
    Paused,
    Resumed,
    /// The skill stays without a schedule.
    Removed,
    /// The skill was a reminder, and is gone with its schedule.
    Deleted,
}
