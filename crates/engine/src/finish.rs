//! The end of a run: one transaction writes outcome, outputs and error, then people hear of it.

use deft_model::{Failure, FailureClass, Outcome, RunId, RunStatus};
use deft_store::{Finish, RunRow, Then};
use deft_workflow::{Event, Finished, RunError};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::engine::Inner;
use crate::view::publish;
use crate::{Error, session_log};

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

/// The last events of a run that ends while nobody drives it.
pub(crate) fn closing(by: &str, started: Option<Timestamp>, at: Timestamp) -> Vec<Event> {
    let failure = Failure::new(FailureClass::Cancelled, format!("cancelled by {by}"));
    let took = started.map_or(0, |started| at.as_millisecond() - started.as_millisecond());
    let finished = Finished {
        outcome: Outcome::Cancelled,
        outputs: serde_json::Value::Null,
        error: Some(RunError {
            failure: failure.clone(),
            step: None,
        }),
        ms: u64::try_from(took).unwrap_or(0),
    };
    vec![Event::Stopped { failure }, Event::Finished(finished)]
}

impl Inner {
    /// Tells of the end of a run that the store has ended, if it has.
    pub(crate) async fn tell_closed(&self, run: &RunId) -> Result<(), Error> {
        let store = &self.parts.store;
        let Some(row) = store.run(run).await? else {
            return Ok(());
        };
        if row.outcome != Some(Outcome::Cancelled) {
            return Ok(());
        }
        let stored = store.events(Some(run), 0, u32::MAX).await?;
        let last = stored.iter().rev().take(2).rev();
        for event in last.filter_map(|stored| publish(&row, stored.clone())) {
            if let Event::Finished(finished) = &event.event {
                self.log_session(&row, finished, event.at);
            }
            self.publish(event);
        }
        Ok(())
    }

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
