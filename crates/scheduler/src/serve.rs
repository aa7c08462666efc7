//! The loops of a daemon: decide slots, drive due runs, resume interrupted ones, deliver notices, watch
//! tools, models, events and health.
//!
//! Nothing here polls for work: loops sleep until the earliest instant in the store, or until a bell rings.
//! This process rings it, the doorbell of other processes rings it, and so does a cheap check of the version
//! of the store.

use std::sync::Arc;
use std::time::Duration;

use deft_base::{Error, read_or_log};
use deft_engine::DriveOutcome;
use deft_model::{RunId, WaitKind};
use deft_outbox::Channel;
use deft_store::SkillRow;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::clock_check::{ClockReading, about_jump, about_start};
use crate::log_lines;
use crate::{Pool, Scheduler};

/// Interval of the check for writes by other processes.
const STORE_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Interval of the check for leases whose owner has died.
const RECOVERY_INTERVAL: Duration = Duration::from_secs(10);

/// How long before its slot a skill is loaded and compiled, so that nothing is left to prepare when it fires.
const PREPARE_BEFORE_SLOT: SignedDuration = SignedDuration::from_millis(500);

/// Maximum number of skills prepared concurrently.
const MAX_PARALLEL_LOADS: usize = 64;

/// How long to wait after a bell, so that runs that end together cause one check for due runs.
const WAKE_DEBOUNCE: Duration = Duration::from_millis(1);

/// Interval at which servers are listed again while skills wait for tools, because some announce no changes
/// (S0.58).
const RELIST_INTERVAL: SignedDuration = SignedDuration::from_mins(10);

/// Delay before a failed loop restarts, so that a broken disk is not accessed thousands of times.
const RESTART_DELAY: Duration = Duration::from_secs(2);

impl Scheduler {
    /// Runs all loops until `stop` is cancelled, then waits up to `grace` for running tasks and deliveries to end.
    ///
    /// # Errors
    ///
    /// If the file of the store was deleted or replaced. This returns at once: nothing that runs could be
    /// recorded, and another process may fire the same slots.
    pub async fn serve(
        &self,
        pool: &Pool,
        channel: Arc<dyn Channel>,
        stop: CancellationToken,
        grace: Duration,
    ) -> Result<(), Error> {
        let stop = stop.child_token();
        let loops = tokio_util::task::TaskTracker::new();
        let spawn = |work: Work| {
            let (scheduler, stop) = (self.clone(), stop.clone());
            loops.spawn(async move { work.run(&scheduler, &stop).await })
        };
        spawn(Work::Schedules(pool.clone()));
        spawn(Work::Runs(pool.clone()));
        let messages = spawn(Work::Messages(channel));
        spawn(Work::Tools);
        spawn(Work::Glances);
        spawn(Work::Orphans);
        spawn(Work::Models);
        spawn(Work::Events);
        spawn(Work::Health);
        let leases = tokio::spawn({
            let engine = self.engine.clone();
            async move { engine.keep_leases().await }
        });
        let lost = tokio::select! {
            () = stop.cancelled() => None,
            error = self.loss.wait() => Some(error),
        };
        if let Some(error) = lost {
            stop.cancel();
            messages.abort();
            leases.abort();
            return Err(error);
        }
        loops.close();
        let deadline = tokio::time::Instant::now() + grace;
        if tokio::time::timeout_at(deadline, loops.wait())
            .await
            .is_err()
        {
            tracing::warn!("deliveries of notices were cut off; they may arrive twice");
            messages.abort();
            drop(messages.await);
        }
        // Runs that do not end in time are left as after a crash: the next start resumes them.
        if tokio::time::timeout_at(deadline, pool.idle())
            .await
            .is_err()
        {
            tracing::warn!("runs were left unfinished; the next start resumes them");
        }
        leases.abort();
        Ok(())
    }

    async fn watch_schedules(&self, pool: &Pool) -> Result<(), Error> {
        let mut ready_for = None;
        let mut last = self.last_activity().await?;
        let clock = self.clock();
        let mut clock_reading = ClockReading::new(self.now(), clock.uptime());
        loop {
            let bell = self.engine.base().bells().schedules.notified();
            let now = self.now();
            let jump = clock_reading.advance(now, clock.uptime());
            let ticked = self.tick(now, pool).await?;
            let warning = match last.take() {
                Some(last) => about_start(last, now, ticked.missed),
                None => about_jump(jump, ticked.missed),
            };
            if let Some(warning) = warning {
                tracing::warn!("{warning}");
            }
            let next = if ticked.held_back {
                // Late slots continue when other late runs end, which rings the bell.
                let soon = self.now().saturating_add(STORE_POLL_INTERVAL);
                Some(soon.unwrap_or(Timestamp::MAX))
            } else {
                let due = self.store().next_due().await?;
                [due, ticked.look_again].into_iter().flatten().min()
            };
            let Some(next) = next else {
                bell.await;
                continue;
            };
            tokio::select! {
                () = self.prepare_for(next, &mut ready_for) => {}
                () = bell => {}
            }
        }
    }

    /// Waits until `next`, and prepares the skills of this slot shortly before.
    async fn prepare_for(&self, next: Timestamp, ready_for: &mut Option<Timestamp>) {
        let clock = self.clock();
        let mut slot = clock.wait_for(next);
        if *ready_for != Some(next) {
            let ready = next
                .saturating_sub(PREPARE_BEFORE_SLOT)
                .unwrap_or(Timestamp::MIN);
            clock.sleep_until(ready).await;
            tokio::select! {
                () = &mut slot => return,
                () = self.make_ready(next) => *ready_for = Some(next),
            }
        }
        slot.await;
    }

    /// Loads and compiles the skills that are about to fire. Errors are reported when they fire.
    async fn make_ready(&self, next: Timestamp) {
        let until = next
            .saturating_add(PREPARE_BEFORE_SLOT)
            .unwrap_or(Timestamp::MAX);
        let rows = self.store().due_skills(None, until, 2048).await;
        let Some(rows) = read_or_log(rows, "the skills of the next slot") else {
            return;
        };
        let ready = |row: SkillRow| async move {
            drop(self.engine.make_ready(&row).await);
        };
        let rows = futures_util::stream::iter(rows);
        rows.for_each_concurrent(MAX_PARALLEL_LOADS, ready).await;
    }

    async fn drive_due(&self, pool: &Pool) -> Result<(), Error> {
        loop {
            let bell = self.engine.base().bells().runs.notified();
            let Some(permit) = pool.permit().await else {
                return Ok(());
            };
            if let Some(claimed) = self.engine.claim_due().await? {
                let (scheduler, attention) = (self.clone(), pool.attention.clone());
                pool.tasks.spawn(async move {
                    let (run, skill) = (claimed.run.id.clone(), claimed.run.skill.clone());
                    match scheduler.engine.drive_claimed(claimed, attention).await {
                        Ok(DriveOutcome::Finished(row)) => {
                            log_lines::log_end(&scheduler.engine, &row).await;
                        }
                        Ok(DriveOutcome::Parked | DriveOutcome::GivenUp) => {}
                        Err(error) => {
                            scheduler.loss.note(&error);
                            tracing::error!(%run, skill, %error, "executing a run failed");
                        }
                    }
                    drop(permit);
                    scheduler.engine.base().bells().runs.notify_waiters();
                });
                continue;
            }
            drop(permit);
            let sleep = match self.store().next_wake().await? {
                Some(at) => self.clock().sleep_until(at),
                None => Box::pin(std::future::pending()),
            };
            tokio::select! {
                () = sleep => {}
                () = bell => tokio::time::sleep(WAKE_DEBOUNCE).await,
            }
        }
    }

    /// Enables skills and wakes runs when tools or models appear.
    async fn follow_tools(&self) -> Result<(), Error> {
        let mut changes = self.engine.router().changes();
        loop {
            let models = self.engine.base().bells().models.notified();
            self.enable_ready(self.now()).await?;
            let woken = self.store().wake(WaitKind::Tool, None, self.now()).await?;
            if woken > 0 {
                tracing::info!(
                    woken,
                    "tools or models have changed; resuming runs that waited"
                );
            }
            self.engine.base().bells().ring_all();
            tokio::select! {
                tools = changes.changed() => {
                    if tools.is_err() {
                        return Ok(());
                    }
                }
                () = models => {}
                asked = self.ask_again() => asked?,
            }
        }
    }

    /// Waits, then asks servers for their tools again if skills wait for tools: some servers do not announce
    /// changes.
    async fn ask_again(&self) -> Result<(), Error> {
        let clock = self.clock();
        let until = clock.now().saturating_add(RELIST_INTERVAL);
        clock.sleep_until(until.unwrap_or(Timestamp::MAX)).await;
        if self.has_skills_without_tools().await? {
            self.engine.router().refresh().await;
        }
        Ok(())
    }

    async fn watch_store(&self) -> Result<(), Error> {
        let mut seen = self.store().version().await?;
        loop {
            tokio::time::sleep(STORE_POLL_INTERVAL).await;
            let version = self.store().version().await?;
            if version != seen {
                seen = version;
                self.engine.base().bells().ring_all();
            }
        }
    }

    /// Frees the runs whose process has exited, so that they become due again, and logs them. Does not drive
    /// them.
    pub async fn recover(&self) -> Result<Vec<RunId>, Error> {
        let freed = self.engine.recover().await?;
        if !freed.is_empty() {
            log_lines::log_recovery(&self.engine, &freed).await;
        }
        Ok(freed)
    }

    async fn recover_orphans(&self) -> Result<(), Error> {
        loop {
            let freed = self.recover().await?;
            if !freed.is_empty() {
                self.engine.base().bells().ring_all();
            }
            tokio::time::sleep(RECOVERY_INTERVAL).await;
        }
    }
}

/// One loop of the daemon.
enum Work {
    Schedules(Pool),
    Runs(Pool),
    Messages(Arc<dyn Channel>),
    Tools,
    Glances,
    Orphans,
    Models,
    Events,
    Health,
}

impl Work {
    /// Runs the loop until `stop` is cancelled, and restarts it after errors.
    async fn run(&self, scheduler: &Scheduler, stop: &CancellationToken) {
        loop {
            match self.run_once(scheduler, stop).await {
                Ok(()) => return,
                Err(error) => {
                    scheduler.loss.note(&error);
                    tracing::error!(
                        %error, hint = error.hint(),
                        "a scheduler loop failed; restarting it"
                    );
                }
            }
            let delay = tokio::time::sleep(RESTART_DELAY);
            if stop.run_until_cancelled(delay).await.is_none() {
                return;
            }
        }
    }

    fn run_once<'a>(
        &'a self,
        scheduler: &'a Scheduler,
        stop: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<(), Error>> {
        match self {
            // A message whose delivery is cut off would be sent twice, so this loop ends by itself.
            Self::Messages(channel) => {
                let outbox = scheduler.engine.outbox();
                Box::pin(async move { outbox.deliver_until(channel, stop).await })
            }
            Self::Schedules(pool) => Box::pin(until(stop, scheduler.watch_schedules(pool))),
            Self::Runs(pool) => Box::pin(until(stop, scheduler.drive_due(pool))),
            Self::Tools => Box::pin(until(stop, scheduler.follow_tools())),
            Self::Glances => Box::pin(until(stop, scheduler.watch_store())),
            Self::Orphans => Box::pin(until(stop, scheduler.recover_orphans())),
            Self::Models => Box::pin(until(stop, scheduler.watch_models())),
            Self::Events => Box::pin(until(stop, scheduler.watch_events())),
            Self::Health => Box::pin(until(stop, scheduler.watch_health())),
        }
    }
}

/// Drops a loop when `stop` is cancelled.
async fn until(
    stop: &CancellationToken,
    work: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    let Some(ended) = stop.run_until_cancelled(work).await else {
        return Ok(());
    };
    ended
}
