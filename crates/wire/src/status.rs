//! The state of a home on one screen.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{Outcome, RunId, RunStatus};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::ApprovalView;
use crate::budget::{BudgetScope, PausedAgent};
use crate::interruption::StepPosition;
use crate::listener::ListenerState;
use crate::schema::words;

/// The document of `deft status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusView {
    /// Where the home is.
    pub home: String,
    /// Whether the home was set up.
    pub home_exists: bool,
    pub skills: usize,
    /// How many files of skills cannot be read.
    pub broken: usize,
    /// How many models are configured.
    pub models: usize,
    /// When this was read.
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub zone: String,
    pub daemon: DaemonStatus,
    /// How many skills fire by a schedule.
    pub scheduled: usize,
    /// The next fires of different skills, the first one first.
    pub next: Vec<NextFire>,
    /// Runs that are queued, running or waiting, newest first.
    pub active: Vec<ActiveRun>,
    /// How many there are in all.
    pub active_total: u64,
    /// Runs of the last 24 hours that did not succeed, newest first.
    pub failed: Vec<FailedRun>,
    pub failed_total: u64,
    /// Questions that wait for an answer, oldest first.
    pub approvals: Vec<ApprovalView>,
    /// The day of the spending, in the zone of deft.
    pub day: String,
    /// What was used today, and the limits: everything together first, then scopes with a limit.
    pub spending: Vec<BudgetScope>,
    pub paused_agents: Vec<PausedAgent>,
}

/// Whether a daemon is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    pub running: bool,
    pub pid: Option<u32>,
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// The API over HTTP, if the daemon serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<ListenerState>,
}

/// The next fire of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextFire {
    pub skill: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The schedule in a sentence.
    pub words: String,
    /// Whether this is its only fire.
    #[serde(default)]
    pub once: bool,
}

/// A run that is not over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveRun {
    #[schemars(with = "String")]
    pub id: RunId,
    pub skill: String,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    /// When it began, or was queued.
    #[schemars(with = "String")]
    pub since: Timestamp,
    pub position: Option<StepPosition>,
    pub waiting_for: Option<String>,
    /// Whether the process that drove it is gone.
    pub owner_gone: bool,
}

/// A run that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedRun {
    #[schemars(with = "String")]
    pub id: RunId,
    pub skill: String,
    #[schemars(schema_with = "words::<Outcome>")]
    pub outcome: Outcome,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub message: String,
}
