//! Where a run is, and where it stopped and was continued.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run that stopped in the middle, and was continued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interruption {
    /// The last sign of the process that drove the run, or the end of the run.
    #[schemars(with = "String")]
    pub interrupted_at: Timestamp,
    #[schemars(with = "String")]
    pub resumed_at: Timestamp,
    pub cause: InterruptionCause,
    /// Who let the run continue; none where another process did so by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Why a run did not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptionCause {
    /// The process that drove the run ended without a word.
    ProcessEnded,
    /// The run had ended, and a person let it continue.
    RunEnded,
}

/// The step that a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepPosition {
    /// Counted from 1.
    pub number: usize,
    pub total: usize,
}
