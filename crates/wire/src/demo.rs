//! Result of a demonstration.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::RunId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JSON output of `deft demo crash`, read from the journal of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashReport {
    /// Whether the run succeeded after the crash and no step ran twice.
    pub verified: bool,
    #[schemars(with = "String")]
    pub run: RunId,
    #[schemars(with = "Option<String>")]
    pub interrupted_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub resumed_at: Option<Timestamp>,
    pub steps: Vec<CrashStep>,
    /// Number of lines that the steps wrote to their file.
    pub lines: usize,
}

/// A step that must not run twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashStep {
    pub id: String,
    /// How many times the step began.
    pub begun: usize,
    /// How many times the step succeeded.
    pub succeeded: usize,
    /// Whether the step had ended before the crash.
    pub before_crash: bool,
}
