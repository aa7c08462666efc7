//! The types of events in the journal of a run.

use crate::choice::choice;

choice! {
    /// The type of a recorded change of a run.
    EventType {
        /// The facts that a run needs besides its row were stored.
        Prepared = "prepared",
        /// The run began.
        Started = "started",
        /// A step of the run that this one repeats was taken over.
        Reused = "reused",
        /// A step is not executed.
        Skipped = "skipped",
        /// The items of a loop are known.
        Listed = "listed",
        /// A person was asked.
        Asked = "asked",
        /// A person answered.
        Answered = "answered",
        /// A call began.
        Begun = "begun",
        /// A call ended.
        Ended = "ended",
        /// An event of an agent.
        Agent = "agent",
        /// A heal rule was applied.
        Healed = "healed",
        /// The time that a step waited for has come.
        Woken = "woken",
        /// A nested skill began.
        Entered = "entered",
        /// A nested skill continues after an interruption.
        Continued = "continued",
        /// The time of a nested skill has run out.
        Expired = "expired",
        /// A nested skill ended.
        Closed = "closed",
        /// The run has to end.
        Stopped = "stopped",
        /// The run was resumed after its process had ended.
        Recovered = "recovered",
        /// The run was resumed after it had ended.
        Resumed = "resumed",
        /// The run ended.
        Finished = "finished",
    }
}
