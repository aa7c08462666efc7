//! The pool that drives runs: a limited number at once, and the late slots among them.
//!
//! Not here: which runs are driven.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deft_engine::Attention;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// Drives a limited number of runs at once.
#[derive(Clone)]
pub struct Pool {
    permits: Arc<Semaphore>,
    pub(crate) tasks: TaskTracker,
    /// Skills with a late slot that is running.
    late: Arc<Mutex<HashSet<i64>>>,
    /// Whether late slots may remain that produce no run.
    may_have_missed: Arc<AtomicBool>,
    pub(crate) attention: Attention,
}

impl Pool {
    /// Returns a pool that drives at most `permits` runs at once. A run that waits is parked and frees its
    /// permit.
    pub fn new(permits: usize) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(permits)),
            tasks: TaskTracker::new(),
            late: Arc::default(),
            may_have_missed: Arc::new(AtomicBool::new(true)),
            attention: Attention {
                parks: true,
                ..Attention::default()
            },
        }
    }

    /// Waits for a permit. `None` if the pool is closed.
    pub(crate) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    /// Returns a permit if one is free now.
    pub(crate) fn try_permit(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Waits for a permit until `deadline`; `None` if none became free.
    pub(crate) async fn permit_by(&self, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        if let Some(permit) = self.try_permit() {
            return Some(permit);
        }
        let permit = tokio::time::timeout_at(deadline, self.permit());
        permit.await.ok().flatten()
    }

    /// Returns the skills with a late slot that is running.
    pub(crate) fn unfinished_skills(&self) -> HashSet<i64> {
        self.late.lock().clone()
    }

    /// Whether late slots may remain that produce no run.
    pub(crate) fn may_have_missed(&self) -> bool {
        self.may_have_missed.load(Ordering::Relaxed)
    }

    pub(crate) fn set_may_have_missed(&self, may_have_missed: bool) {
        self.may_have_missed
            .store(may_have_missed, Ordering::Relaxed);
    }

    /// Waits until all runs in the pool have ended.
    pub async fn idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }
}

/// Marks a skill as having a late slot that is running; dropping it removes the mark.
pub(crate) struct LateMark {
    all: Arc<Mutex<HashSet<i64>>>,
    skill: i64,
}

impl LateMark {
    pub(crate) fn enter(pool: &Pool, skill: i64) -> Self {
        let all = Arc::clone(&pool.late);
        all.lock().insert(skill);
        Self { all, skill }
    }
}

impl Drop for LateMark {
    fn drop(&mut self) {
        self.all.lock().remove(&self.skill);
    }
}
