//! Runs that programs ask a daemon for.

use std::time::Duration;

use deft_model::RunId;
use deft_scheduler::{Pool, Scheduler};
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

/// A run that is stored.
pub struct StartedRun(deft_scheduler::StartedRun);

impl Runner {
    pub(crate) fn new(scheduler: Scheduler, pool: Pool) -> Self {
        Self { scheduler, pool }
    }

    /// Stores a run, which begins at once if the daemon has a place for it. A caller may give up; the run goes on.
    pub async fn start(&self, start: StartRun) -> Done<StartedRun> {
        let started = self.scheduler.start(start.into(), &self.pool).await;
        let started = started.ok_or_else(|| {
            let message = "the daemon stopped before the run was stored";
            Failure::internal("engine", message)
        })?;
        started
            .map(StartedRun)
            .map_err(|error| app::failure(&error))
    }
}

impl StartedRun {
    /// The run.
    pub fn id(&self) -> &RunId {
        &self.0.id
    }

    /// Whether a run with the same key was there already, so that nothing was run.
    pub fn is_existing(&self) -> bool {
        self.0.existing
    }

    /// Waits until the run is over or asks a person, at most so long.
    pub async fn wait(self, app: &App, at_most: Duration) -> Done<()> {
        let deadline = Instant::now() + at_most;
        if let Some(end) = self.0.end
            && tokio::time::timeout_at(deadline, end).await.is_err()
        {
            return Ok(());
        }
        let left = deadline.saturating_duration_since(Instant::now());
        drive::wait(app, &self.0.id, left).await
    }
}
