//! The limit on children that live at once. An idle child is ended when another session waits for a place,
//! so that runs which wait for each other cannot deadlock.
//!
//! Jobs leave no state in a child that later jobs need, so a child can be replaced between two jobs at any
//! time. Not here: starting children, and their work.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::Connection;

/// The places for children of one worker.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Children between two jobs, by session number, oldest session first.
    idle: BTreeMap<u64, Connection>,
    /// The number of sessions that wait for a place.
    waiting: usize,
    last_session: u64,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self {
            // Without any place no job could ever run.
            free: Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))),
            state: Mutex::default(),
        }
    }

    /// Returns a number for a new session.
    pub(super) fn next_session(&self) -> u64 {
        let mut state = self.lock();
        state.last_session += 1;
        state.last_session
    }

    /// Takes the idle child of a session, unless it was ended for another session.
    pub(super) fn take(&self, session: u64) -> Option<Connection> {
        self.lock().idle.remove(&session)
    }

    /// Keeps a child for the next job of its session, unless another session waits for a place.
    pub(super) fn keep(&self, session: u64, child: Connection) {
        let mut state = self.lock();
        if state.waiting == 0 {
            state.idle.insert(session, child);
        }
    }

    /// Waits for a place; sessions are served in order.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(place);
        }
        let _waiting = self.wait();
        // The semaphore is never closed.
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    /// Registers a waiting session and ends an idle child. Both happen under one lock, so a job that ends
    /// later sees the waiting session.
    fn wait(&self) -> WaitingSession<'_> {
        let mut state = self.lock();
        state.waiting += 1;
        let _gives_way = state.idle.pop_first();
        WaitingSession(self)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// A registration that is removed when the session gets a place or stops waiting.
struct WaitingSession<'a>(&'a Places);

impl Drop for WaitingSession<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}
