//! Runs: their ids, states and outcomes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::choice::choice;

/// The id of a run: `run_` and a part that sorts by time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Arc<str>);

impl RunId {
    /// Wraps the text of an id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

choice! {
    /// The state of a run.
    RunStatus {
        /// Admitted, not started.
        Queued = "queued",
        /// A driver holds its lease and works on it.
        Running = "running",
        /// Parked until a time or an answer.
        Waiting = "waiting",
        /// Finished.
        Done = "done",
    }
}

choice! {
    /// The reason why a run is parked.
    WaitKind {
        /// Waiting for a person's answer.
        Answer = "answer",
        /// Waiting for a tool, its server or a model to become available.
        Tool = "tool",
        /// Waiting for the end of a `wait` step.
        Time = "time",
        /// Waiting for the next attempt of a step.
        Retry = "retry",
        /// Waiting until events can be stored again.
        Record = "record",
    }
}

choice! {
    /// How a run ended.
    Outcome {
        /// All steps succeeded.
        Success = "success",
        /// A step failed permanently.
        Error = "error",
        /// There was nothing to do, or another run was in the way.
        Skipped = "skipped",
        /// The slot passed while no scheduler was running.
        Missed = "missed",
        /// A required tool or server is missing.
        Blocked = "blocked",
        /// Stopped by a person or another part of deft.
        Cancelled = "cancelled",
        /// Interrupted in a step that must not be repeated without asking.
        Interrupted = "interrupted",
    }
}
