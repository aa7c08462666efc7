//! Overview of the state of a home.

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

/// JSON output of `deft status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatusView {
    /// Path of the home.
    pub home: String,
    /// Whether the home has been created.
    pub home_exists: bool,
    pub skills: usize,
    /// Number of skill files that cannot be read.
    pub broken: usize,
    /// Number of configured models.
    pub models: usize,
    /// When the status was read.
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub zone: String,
    pub daemon: DaemonStatus,
    /// Number of scheduled skills.
    pub scheduled: usize,
    /// Next fire of each of the next skills, earliest first.
    pub next: Vec<NextFire>,
    /// Runs that are queued, running or waiting, newest first.
    pub active: Vec<ActiveRun>,
    /// Total number of these runs.
    pub active_total: u64,
    /// Runs of the last 24 hours that did not succeed, newest first.
    pub failed: Vec<FailedRun>,
    pub failed_total: u64,
    /// Pending approvals, oldest first.
    pub approvals: Vec<ApprovalView>,
    /// Date of `spending`, in the time zone of deft.
    pub day: String,
    /// Today's usage and limits: the total first, then all scopes that have a limit.
    pub spending: Vec<BudgetScope>,
    pub paused_agents: Vec<PausedAgent>,
}

/// State of the daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DaemonStatus {
    pub running: bool,
    pub pid: Option<u32>,
    #[schemars(with = "Option<String>")]
    pub since: Option<Timestamp>,
    /// State of the HTTP API, if the daemon serves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api: Option<ListenerState>,
}

/// The next fire of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NextFire {
    pub skill: String,
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The schedule as a sentence.
    pub words: String,
    /// Whether the skill fires only once.
    #[serde(default)]
    pub once: bool,
}

/// A run that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveRun {
    #[schemars(with = "String")]
    pub id: RunId,
    pub skill: String,
    #[schemars(schema_with = "words::<RunStatus>")]
    pub status: RunStatus,
    /// When the run began or was queued.
    #[schemars(with = "String")]
    pub since: Timestamp,
    pub position: Option<StepPosition>,
    pub waiting_for: Option<String>,
    /// Whether the process that drove the run has ended.
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
