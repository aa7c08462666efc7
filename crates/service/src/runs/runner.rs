//! Runs that programs start through a daemon.

use std::sync::Arc;
use std::time::Duration;

use deft_engine::Transcript;
use deft_model::{RunId, RunStatus};
use deft_scheduler::{Pool, Scheduler};
use deft_store::RunRow;
use deft_wire::run::RunDetail;
use deft_wire::{Done, Failure};
use tokio::time::Instant;

use super::{StartRun, drive};
use crate::app::{self, App};

/// Starts runs inside a daemon.
#[derive(Clone)]
pub struct Runner {
    scheduler: Scheduler,
    pool: Pool,
}

/// A run that was stored.
pub struct StartedRun {
    run: deft_scheduler::StartedRun,
    transcript: Option<Arc<Transcript>>,
}

/// Whether the caller waits for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Wait until the run has ended.
    ForEnd,
    /// Return as soon as the run is stored.
    No,
}

impl Runner {
    pub(crate) fn new(scheduler: Scheduler, pool: Pool) -> Self {
        Self { scheduler, pool }
    }

    /// Stores a run, which starts immediately if the daemon has a free slot. Dropping the future does not
    /// stop the run.
    pub async fn start(&self, start: StartRun, wait: Wait) -> Done<StartedRun> {
        let transcript: Option<Arc<Transcript>> = (wait == Wait::ForEnd).then(Arc::default);
        let kept = transcript.clone();
        let started = self.scheduler.start(start.into(), &self.pool, kept).await;
        let started = started.ok_or_else(|| {
            let message = "the daemon stopped before the run was stored";
            Failure::internal("engine", message)
        })?;
        let run = started.map_err(|error| app::failure(&error))?;
        Ok(StartedRun { run, transcript })
    }
}

impl StartedRun {
    /// Returns the id of the run.
    pub fn id(&self) -> &RunId {
        &self.run.id
    }

    /// Whether a run with the same key already existed, so that nothing was run.
    pub fn is_existing(&self) -> bool {
        self.run.existing
    }

    /// Waits until the run has ended or asks a person, for at most `at_most`. Returns the run if this process
    /// drove it to its end; otherwise read its state from the store.
    pub async fn wait(self, app: &App, at_most: Duration) -> Done<Option<RunDetail>> {
        let deadline = Instant::now() + at_most;
        if let Some(end) = self.run.end {
            match tokio::time::timeout_at(deadline, end).await {
                Err(_) => return Ok(None),
                Ok(Ok(row)) if row.status == RunStatus::Done => {
                    return show_ended(app, &row, self.transcript.as_deref()).await;
                }
                Ok(Ok(_) | Err(_)) => {}
            }
        }
        let left = deadline.saturating_duration_since(Instant::now());
        drive::wait(app, &self.run.id, left).await.map(|()| None)
    }
}

async fn show_ended(
    app: &App,
    row: &RunRow,
    transcript: Option<&Transcript>,
) -> Done<Option<RunDetail>> {
    let Some(transcript) = transcript else {
        return Ok(None);
    };
    let shown = app.engine.show_driven(row, transcript).await;
    let shown = shown.map_err(|error| app::failure(&error))?;
    Ok(Some(RunDetail {
        owner_gone: Some(false),
        ..shown
    }))
}
