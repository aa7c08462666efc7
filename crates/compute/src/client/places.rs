//! How many children may live at once. A child that has nothing to do gives way to a session that
//! waits for one, so that runs which wait for each other never wait for ever.
//!
//! Jobs keep nothing in a child that a later job could need, so that a child can be replaced between
//! two jobs at any time. Not here: starting children, and what they do.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::Connection;

/// The places of one worker.
#[derive(Debug)]
pub(super) struct Places {
    free: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Children between two jobs, by the number of their session; the oldest session first.
    idle: BTreeMap<u64, Connection>,
    /// Sessions that wait for a place.
    waiting: usize,
    last_session: u64,
}

impl Places {
    pub(super) fn new(most: usize) -> Self {
        Self {
            // With no place nothing could ever run.
            free: Arc::new(Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS))),
            state: Mutex::default(),
        }
    }

    /// A number for a new session.
    pub(super) fn next_session(&self) -> u64 {
        let mut state = self.lock();
        state.last_session += 1;
        state.last_session
    }

    /// The idle child of a session, unless it had to give way.
    pub(super) fn take(&self, session: u64) -> Option<Connection> {
        self.lock().idle.remove(&session)
    }

    /// Keeps a child for the next job of its session, unless another session waits for its place.
    pub(super) fn keep(&self, session: u64, child: Connection) {
        let mut state = self.lock();
        if state.waiting == 0 {
            state.idle.insert(session, child);
        }
    }

    /// Waits for a place, in the order of those who ask.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(place);
        }
        let _waiting = self.wait();
        // It is never closed.
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    /// Announces a waiter, and lets an idle child go. A job that ends from now on sees the
    /// one who waits: both happen under one lock.
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

/// One who waits for a place, until it has one or gives up.
struct WaitingSession<'a>(&'a Places);

impl Drop for WaitingSession<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}
