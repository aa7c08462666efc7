//! Where runs are driven: so many at once, and which late slots are among them.
//!
//! What is run there is decided elsewhere.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use deft_engine::Attention;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// Where runs are driven: so many at once.
#[derive(Clone)]
pub struct Pool {
    places: Arc<Semaphore>,
    pub(crate) tasks: TaskTracker,
    /// Skills of which a late slot is being made up for.
    late: Arc<Mutex<HashSet<i64>>>,
    /// Late slots may be there that bring no run.
    sweeps: Arc<AtomicBool>,
    pub(crate) attention: Attention,
}

impl Pool {
    /// A pool with so many places. Runs that wait are left for others to go on with.
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

    /// A place, as soon as there is one.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// A place, if there is one now.
    pub(crate) fn try_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// A place, if there is one in time.
    pub(crate) async fn place_by(&self, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        if let Some(place) = self.try_place() {
            return Some(place);
        }
        let place = tokio::time::timeout_at(deadline, self.place());
        place.await.ok().flatten()
    }

    /// Skills of which a late slot is being made up for.
    pub(crate) fn unfinished(&self) -> HashSet<i64> {
        self.late.lock().clone()
    }

    /// Whether late slots may be there that bring no run.
    pub(crate) fn sweeps(&self) -> bool {
        self.sweeps.load(Ordering::Relaxed)
    }

    pub(crate) fn set_sweeps(&self, sweeps: bool) {
        self.sweeps.store(sweeps, Ordering::Relaxed);
    }

    /// Waits until everything that is driven here has ended.
    pub async fn idle(&self) {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
    }
}

/// A late slot that is being run, known while it is.
pub(crate) struct Late {
    all: Arc<Mutex<HashSet<i64>>>,
    skill: i64,
}

impl Late {
    pub(crate) fn enter(pool: &Pool, skill: i64) -> Self {
        let all = Arc::clone(&pool.late);
        all.lock().insert(skill);
        Self { all, skill }
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        self.all.lock().remove(&self.skill);
    }
}
