//! Runs whose driver failed: what happens to their leases.
//!
//! This process renews all its leases, so a run that keeps one without a driver would stay `running` until the
//! next start.
//!
//! Not here: leases of other processes (`recover.rs`).

use deft_model::{Failure, FailureClass, Outcome, WaitKind};
use deft_store::{Batch, Finish, Lease, RunState, WaitReason};

use crate::drive::DriveOutcome;
use crate::engine::Inner;
use crate::record::is_passing;
use crate::{Error, JOB_SKILL, finish};

impl Inner {
    /// Decides about the lease of a run whose driver failed. If the store is locked or full, the run becomes
    /// due again. After any other error it ends as interrupted, because repeating it would fail in the same
    /// way; if the end cannot be stored, the run becomes due again too.
    pub(crate) async fn handle_driver_error(
        &self,
        skill: &str,
        lease: &Lease,
        error: Error,
    ) -> Result<DriveOutcome, Error> {
        if matches!(&error, Error::Store(deft_store::Error::Fenced { .. })) {
            // Another process drives the run, or it has ended.
            return Err(error);
        }
        let passes = matches!(&error, Error::Store(error) if is_passing(error));
        if !passes {
            match self.give_up(skill, lease, &error).await {
                Ok(()) => return Ok(DriveOutcome::GivenUp),
                Err(end) => {
                    tracing::error!(run = %lease.run, error = %end, "the end of a run cannot be stored");
                }
            }
        }
        self.give_back(lease.clone()).await;
        Err(error)
    }

    /// Ends a run as interrupted, with the reason.
    async fn give_up(&self, skill: &str, lease: &Lease, error: &Error) -> Result<(), Error> {
        let (run, at) = (&lease.run, self.now());
        tracing::error!(%run, skill, %error, "a run cannot continue");
        let failure = Failure::new(FailureClass::Interrupted, error.to_string());
        let finish = Finish {
            outcome: Outcome::Interrupted,
            outputs: None,
            error: serde_json::to_string(&failure).ok(),
            aftermath: None,
            at,
        };
        let fact = finish::error_fact(skill, run, JOB_SKILL, &failure.message, at);
        let batch = Batch {
            writes: fact.into_iter().collect(),
            then: RunState::Finish(finish),
            ..Batch::default()
        };
        self.parts.store.append(lease, batch).await?;
        Ok(())
    }

    /// Releases the lease of a run that this process no longer drives, so that the run is due again. If that
    /// fails too, it is retried before the next run is claimed.
    async fn give_back(&self, lease: Lease) {
        self.abandoned_leases().push(lease);
        self.give_back_all().await;
    }

    /// Releases the leases of runs that this process no longer drives.
    pub(crate) async fn give_back_all(&self) {
        let leases = std::mem::take(&mut *self.abandoned_leases());
        for lease in leases {
            let batch = Batch {
                then: RunState::Park {
                    wake_at: Some(self.now()),
                    waiting_for: WaitReason {
                        kind: WaitKind::Record,
                        text: "its record to be stored".to_owned(),
                    },
                },
                ..Batch::default()
            };
            match self.parts.store.append(&lease, batch).await {
                Ok(_) => {}
                Err(error @ deft_store::Error::Fenced { .. }) => {
                    tracing::warn!(run = %lease.run, %error, "a lease is lost");
                }
                Err(error) => {
                    tracing::debug!(run = %lease.run, %error, "a lease cannot be released yet");
                    self.abandoned_leases().push(lease);
                }
            }
        }
    }
}
