//! The end of a run: one transaction writes outcome, outputs and error, then people hear of it.

use deft_model::RunStatus;
use deft_store::{Finish, RunRow, Then};
use deft_workflow::Finished;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::engine::Inner;
use crate::session_log;

/// What is stored of the end of a run.
pub(crate) fn row(finished: &Finished, at: Timestamp) -> Then {
    let json = |value: &serde_json::Value| value.to_string();
    Then::Finish(Finish {
        outcome: finished.outcome,
        outputs: Some(json(&finished.outputs)),
        error: finished
            .error
            .as_ref()
            .and_then(|error| serde_json::to_string(error).ok()),
        usage: None,
        aftermath: None,
        at,
    })
}

/// The row of a run after its end is stored, so that nobody has to read it back.
pub(crate) fn ended(run: &RunRow, then: Then) -> RunRow {
    let mut run = run.clone();
    if let Then::Finish(finish) = then {
        run.status = RunStatus::Done;
        run.outcome = Some(finish.outcome);
        run.outputs = finish.outputs;
        run.error = finish.error;
        run.usage = finish.usage;
        run.finished_at = Some(finish.at);
        run.finish_ordinal += 1;
        run.owner = None;
        run.wake_at = None;
        run.waiting_for = None;
    }
    run
}

impl Inner {
    /// Tells what came of a run, after it is stored.
    pub(crate) fn log_session(&self, run: &RunRow, finished: &Finished, at: Timestamp) {
        let Some(folder) = &self.options.sessions else {
            return;
        };
        let zone = TimeZone::get(&self.options.zone).unwrap_or(TimeZone::UTC);
        let error = finished.error.as_ref();
        let written = session_log::append(
            folder,
            &zone,
            at,
            run,
            &finished.outcome.to_string(),
            &finished.outputs,
            error.map(|error| error.failure.message.as_str()),
        );
        if let Err(error) = written {
            tracing::warn!(%error, "the session log was not written");
        }
    }
}
