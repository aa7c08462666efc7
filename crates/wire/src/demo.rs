//! The result of a demonstration.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::RunId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document of `deft demo crash`: what the journal of the run says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashReport {
    /// Whether the run succeeded after the crash, and no step ran twice.
    pub verified: bool,
    #[schemars(with = "String")]
    pub run: RunId,
    #[schemars(with = "Option<String>")]
    pub interrupted_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub resumed_at: Option<Timestamp>,
    pub steps: Vec<CrashStep>,
    /// How many lines the steps left in their file.
    pub lines: usize,
}

/// A step that must not run twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CrashStep {
    pub id: String,
    /// How often it began.
    pub begun: usize,
    /// How often it succeeded.
    pub succeeded: usize,
    /// Whether it was over before the crash.
    pub before_crash: bool,
}
