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
    places: Arc<Semaphore>,
    pub(crate) tasks: TaskTracker,
    /// Skills with a late slot that is running.
    late: Arc<Mutex<HashSet<i64>>>,
    /// Whether late slots may remain that produce no run.
    sweeps: Arc<AtomicBool>,
    pub(crate) attention: Attention,
}

impl Pool {
    /// Returns a pool that drives at most `places` runs at once. A run that waits is parked and frees its
    /// place.
    pub fn new(places: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            tasks: TaskTracker::new(),
            late: Arc::default(),
            sweeps: Arc::new(AtomicBool::new(true)),
            attention: Attention {
                parks: true,
                ..Attention::default()
            },
        }
    }

    /// Waits for a place. `None` if the pool is closed.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Returns a place if one is free now.
    pub(crate) fn try_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Waits for a place until `deadline`; `None` if none became free.
    pub(crate) async fn place_by(&self, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        if let Some(place) = self.try_place() {
            return Some(place);
        }
        let place = tokio::time::timeout_at(deadline, self.place());
        place.await.ok().flatten()
    }

    /// Returns the skills with a late slot that is running.
    pub(crate) fn unfinished_skills(&self) -> HashSet<i64> {
        self.late.lock().clone()
    }

    /// Whether late slots may remain that produce no run.
    pub(crate) fn sweeps(&self) -> bool {
        self.sweeps.load(Ordering::Relaxed)
    }

    pub(crate) fn set_may_have_missed(&self, sweeps: bool) {
        self.sweeps.store(sweeps, Ordering::Relaxed);
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
