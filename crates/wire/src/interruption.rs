//! Progress and interruptions of a run.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An interruption of a run that was resumed later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interruption {
    /// Last sign of life of the process that drove the run, or the end of the run.
    #[schemars(with = "String")]
    pub interrupted_at: Timestamp,
    #[schemars(with = "String")]
    pub resumed_at: Timestamp,
    pub cause: InterruptionCause,
    /// Who resumed the run; absent if another process resumed it automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// Cause of an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterruptionCause {
    /// The process that drove the run ended unexpectedly.
    ProcessEnded,
    /// The run had ended, and a person resumed it.
    RunEnded,
}

/// Time between the start and the end of a run in which it did no work. The two periods do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleTime {
    /// Time in which the run waited for people, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub waited_ms: u64,
    /// Time in which no process drove the run, or between its end and its resumption, in milliseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted_ms: u64,
}

impl IdleTime {
    /// Returns the working time of a run that took `duration_ms` from start to end, in milliseconds.
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

/// The step that a run has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepPosition {
    /// Number of the step, counted from 1.
    pub number: usize,
    pub total: usize,
}
