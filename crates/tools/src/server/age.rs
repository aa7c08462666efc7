//! The age of a listing (S0.58).
//!
//! A server that announces changes is listed again when it does. Any other server is listed again when
//! it is used and its listing is ten minutes old, or when a person asks for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deft_model::Failure;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use super::Server;
use super::phase::relist;

/// The maximum age of a listing if the server does not announce changes.
const OLDEST: SignedDuration = SignedDuration::from_mins(10);

/// The age of a server's listings.
#[derive(Default)]
pub(super) struct Age {
    /// When this process last asked the server for its tools.
    asked_at: Mutex<Option<Timestamp>>,
    /// When the server last listed its skills.
    skills_at: Mutex<Option<Instant>>,
    /// Whether the server announces changes of its tools.
    announces: AtomicBool,
    /// Held while tools are listed again, so that concurrent callers share one listing.
    again: tokio::sync::Mutex<()>,
}

impl Age {
    pub(super) fn mark(&self, now: Timestamp) {
        *self.asked_at.lock() = Some(now);
    }

    pub(super) fn set_announces(&self, announces: bool) {
        self.announces.store(announces, Ordering::Relaxed);
    }

    pub(super) fn mark_skills(&self) {
        *self.skills_at.lock() = Some(Instant::now());
    }

    /// Whether this process listed the skills within the last `ttl`.
    pub(super) fn has_fresh_skills(&self, ttl: Duration) -> bool {
        let listed_at = *self.skills_at.lock();
        listed_at.is_some_and(|at| at.elapsed() < ttl)
    }

    fn is_old(&self, now: Timestamp) -> bool {
        let asked_at = *self.asked_at.lock();
        // Absolute, so that a clock that was set back does not keep an old listing valid.
        asked_at.is_some_and(|at| now.duration_since(at).abs() >= OLDEST)
    }
}

impl Server {
    /// Whether this process listed the tools, but too long ago.
    pub(crate) fn is_stale(&self) -> bool {
        self.options.enabled
            && !self.age.announces.load(Ordering::Relaxed)
            && self.age.is_old((self.environment.now)())
    }

    /// Lists the tools if they are not listed or too old. Does not wait for a server that is backing
    /// off.
    pub(crate) async fn list_if_needed(self: &Arc<Self>) -> Result<(), Failure> {
        if !self.is_stale() {
            return self.ensure_now().await;
        }
        let _alone = self.age.again.lock().await;
        if self.is_stale() {
            self.list_now().await?;
        }
        Ok(())
    }

    /// Lists the tools again, even if the listing is fresh.
    pub(crate) async fn list_again(self: &Arc<Self>) -> Result<(), Failure> {
        let _alone = self.age.again.lock().await;
        self.list_now().await
    }

    /// Lists the tools again in the background if needed, so that a call does not wait.
    pub(crate) fn list_soon(self: &Arc<Self>) {
        let server = self.clone();
        tokio::spawn(async move {
            if let Err(failure) = server.list_if_needed().await {
                tracing::debug!(server = server.name, %failure, "tools are not listed again");
            }
        });
    }

    async fn list_now(self: &Arc<Self>) -> Result<(), Failure> {
        // Before the request, so that a server that does not respond is not asked over and over.
        self.age.mark((self.environment.now)());
        match self.ready() {
            Some(link) => {
                relist(self, &link).await;
                Ok(())
            }
            // A start lists the tools.
            None => self.ensure_now().await,
        }
    }
}
