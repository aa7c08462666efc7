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

/// How long a run did not work between its start and its end. The two times do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleTime {
    /// How long it waited for people to answer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
    /// How long no process drove it, or it had ended, before it was continued.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted_ms: u64,
}

impl IdleTime {
    /// How much of the time from the start of a run to its end it worked.
    pub fn worked_ms(self, duration_ms: u64) -> u64 {
        let idle = self.waited_ms.saturating_add(self.interrupted_ms);
        duration_ms.saturating_sub(idle)
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The step that a run is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepPosition {
    /// Counted from 1.
    pub number: usize,
    pub total: usize,
}
