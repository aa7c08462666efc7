//! Runs: their ids, states and outcomes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::choice::choice;

/// What a run is called: `run_` and an id that sorts by time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(Arc<str>);

impl RunId {
    /// Wraps an id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// The id as text.
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
    /// Where a run stands.
    RunStatus {
        /// Admitted, not begun.
        Queued = "queued",
        /// A driver holds its lease and works on it.
        Running = "running",
        /// Parked until an instant or an answer.
        Waiting = "waiting",
        /// Over.
        Done = "done",
    }
}

choice! {
    /// What kind of thing a parked run waits for.
    WaitKind {
        /// A person answers a question.
        Answer = "answer",
        /// A tool, its server or a model appears.
        Tool = "tool",
        /// A `wait` step ends.
        Time = "time",
        /// A step is tried again.
        Retry = "retry",
        /// Its events can be stored again.
        Record = "record",
    }
}

choice! {
    /// How a run ended.
    Outcome {
        /// Every step did what it should.
        Success = "success",
        /// A step failed for good.
        Error = "error",
        /// There was nothing to do, or another run was in the way.
        Skipped = "skipped",
        /// Its slot passed while no scheduler was running.
        Missed = "missed",
        /// A tool or server it needs is not there.
        Blocked = "blocked",
        /// A person or another part of deft stopped it.
        Cancelled = "cancelled",
        /// It was cut off inside a step that must not be repeated unasked.
        Interrupted = "interrupted",
    }
}
