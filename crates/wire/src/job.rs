//! Background jobs (S0.77 to S0.82), with the field names of the seeds.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::RunId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Status of a job (S0.79).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobStatus {
    Queued,
    Running,
    Completed,
    Failed,
}

impl JobStatus {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    #[schemars(with = "String")]
    pub task_id: RunId,
    pub name: String,
    pub status: JobStatus,
    /// Result of the job; null until it has one.
    pub result: Value,
    pub error: Option<String>,
    /// Duration in milliseconds.
    pub duration: Option<u64>,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub started_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub completed_at: Option<Timestamp>,
}

/// JSON output of `deft jobs show`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobDocument {
    pub job: JobView,
}

/// JSON output of `deft jobs halt` and `deft jobs resume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobHaltResult {
    pub halted: bool,
}
