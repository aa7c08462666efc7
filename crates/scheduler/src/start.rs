//! Runs that a client requests from a daemon: started at once if the pool has a free permit.
//!
//! Otherwise the run is stored and queued like any other. Not here: slots (`ticker`).

use std::sync::Arc;

use deft_base::Error;
use deft_engine::{Admission, AdmittedRun, Attention, Fire, Transcript};
use deft_model::RunId;
use deft_store::RunRow;
use tokio::sync::oneshot;

use crate::log_lines;
use crate::{Pool, Scheduler};

/// A run that was stored.
pub struct StartedRun {
    /// The run.
    pub id: RunId,
    /// Whether a run with this key already existed.
    pub existing: bool,
    /// Receives the run when it has ended or is parked; closed without a value if it could not be driven.
    /// `None` if it is not driven here.
    pub end: Option<oneshot::Receiver<RunRow>>,
}

impl Scheduler {
    /// Stores a run and drives it in the pool. Returns as soon as it is stored; `None` if the process stops.
    /// The driver keeps the events of the run in `transcript`.
    pub async fn start(
        &self,
        fire: Fire,
        pool: &Pool,
        transcript: Option<Arc<Transcript>>,
    ) -> Option<Result<StartedRun, Error>> {
        let (stored, answer) = oneshot::channel();
        let (ended, end) = oneshot::channel();
        let (scheduler, task_pool) = (self.clone(), pool.clone());
        let attention = Attention {
            transcript,
            ..pool.attention.clone()
        };
        // Spawned as a task: a caller that gives up must not leave a run without a driver. Boxed, because a
        // future of this size is copied several times on its way into a task.
        pool.tasks.spawn(Box::pin(async move {
            let begun = scheduler.begin(fire, &task_pool, &attention).await;
            let leased = match begun {
                Ok(AdmittedRun::Leased(leased)) => {
                    drop(stored.send(Ok((leased.run().clone(), false, true))));
                    leased
                }
                Ok(AdmittedRun::Queued(run) | AdmittedRun::NotLeased(Admission::Run(run))) => {
                    drop(stored.send(Ok((run.id, false, false))));
                    return;
                }
                Ok(AdmittedRun::NotLeased(Admission::Existing(run))) => {
                    drop(stored.send(Ok((run.id, true, false))));
                    return;
                }
                Err(error) => {
                    drop(stored.send(Err(error)));
                    return;
                }
            };
            let run = leased.run().clone();
            match scheduler.engine.drive_leased(leased, attention).await {
                Ok(Admission::Run(row) | Admission::Existing(row)) => {
                    log_lines::log_end(&scheduler.engine, &row).await;
                    // The caller may have exited.
                    drop(ended.send(row));
                }
                Err(error) => {
                    scheduler.loss.note(&error);
                    tracing::error!(%run, %error, "executing a run failed");
                }
            }
            scheduler.engine.base().bells().runs.notify_waiters();
        }));
        let stored = answer.await.ok()?;
        Some(stored.map(|(id, existing, driven)| StartedRun {
            id,
            existing,
            end: driven.then_some(end),
        }))
    }

    /// Takes a permit in the pool and the lease of the run; without a free permit it stores the run as queued.
    async fn begin(
        &self,
        fire: Fire,
        pool: &Pool,
        attention: &Attention,
    ) -> Result<AdmittedRun, Error> {
        let Some(permit) = pool.try_permit() else {
            return self.engine.admit(fire).await.map(AdmittedRun::NotLeased);
        };
        let mut begun = self.engine.begin(fire, attention).await?;
        match &mut begun {
            AdmittedRun::Leased(leased) => leased.permit = Some(permit),
            AdmittedRun::Queued(_) => self.engine.base().bells().runs.notify_waiters(),
            AdmittedRun::NotLeased(_) => {}
        }
        Ok(begun)
    }
}
