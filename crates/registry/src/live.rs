//! A registry that stays up to date with the file system.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use deft_skillfile::Moment;

use crate::change::Change;
use crate::options::Options;
use crate::shared::{Shared, WatchMode};
use crate::snapshot::Snapshot;
use crate::watch::{self, Signal};

/// How long a caller waits for a comparison with the file system.
const CATCH_UP: Duration = Duration::from_secs(5);

/// Loaded skills that are kept up to date. Readers take a snapshot and never wait; one thread replaces it.
#[derive(Debug)]
pub struct Registry {
    shared: Arc<Shared>,
    signal: Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Registry {
    /// Loads all skills and starts watching. `clock` returns the current time, which is needed to check
    /// schedules.
    pub fn open(options: Options, clock: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        let first = Snapshot::load(&options, &clock());
        Self::follow(first, options, clock)
    }

    /// Starts watching after `first` was loaded with the same options.
    pub fn follow(
        first: Snapshot,
        options: Options,
        clock: impl Fn() -> Moment + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::new(first, options, clock));
        let (signal, signals) = mpsc::channel();
        // Watches are set before this function returns, so that no later edit is missed.
        let watcher = watch::Watcher::start(&shared, signal.clone());
        let inner = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("deft-registry".to_owned())
            .spawn(move || watcher.run(&inner, &signals));
        Self {
            shared,
            signal,
            thread: thread.ok(),
        }
    }

    /// Returns the current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.current()
    }

    /// Returns how changes are currently detected.
    pub fn watch_mode(&self) -> WatchMode {
        self.shared.watch_mode()
    }

    /// Returns a channel that receives every accepted change from now on.
    pub fn subscribe(&self) -> Receiver<Arc<[Change]>> {
        self.shared.subscribe()
    }

    /// Requests a comparison of everything with the file system.
    pub fn rescan(&self) {
        // If the thread has ended, nothing needs to be compared.
        drop(self.signal.send(Signal::Rescan));
    }

    /// Compares everything with the file system and waits for the result, so that a caller who wrote a file
    /// finds it in the next snapshot. Returns after a timeout of some seconds; the snapshot is then updated
    /// later.
    pub fn catch_up(&self) {
        let (done, waiting) = mpsc::channel();
        if self.signal.send(Signal::CatchUp(done)).is_ok() {
            let _caught_up = waiting.recv_timeout(CATCH_UP);
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.signal.send(Signal::Stop));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
