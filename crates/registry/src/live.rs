//! A registry that follows the disk.

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

/// How long a caller waits for a comparison with the disk.
const CATCH_UP: Duration = Duration::from_secs(5);

/// Skills that are loaded and followed. Readers take a snapshot and never
/// wait; one thread replaces it.
#[derive(Debug)]
pub struct Registry {
    shared: Arc<Shared>,
    signal: Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

impl Registry {
    /// Loads everything and starts to follow it. `clock` tells the present,
    /// which checks of schedules need.
    pub fn open(options: Options, clock: impl Fn() -> Moment + Send + Sync + 'static) -> Self {
        let first = Snapshot::load(&options, &clock());
        Self::follow(first, options, clock)
    }

    /// Follows what was loaded with the same options.
    pub fn follow(
        first: Snapshot,
        options: Options,
        clock: impl Fn() -> Moment + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::new(first, options, clock));
        let (signal, signals) = mpsc::channel();
        // Watches are set before this returns, so that no later edit is missed.
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

    /// What is loaded now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.current()
    }

    /// How changes are noticed at the moment.
    pub fn watching(&self) -> WatchMode {
        self.shared.watching()
    }

    /// Announces every accepted change from now on.
    pub fn subscribe(&self) -> Receiver<Arc<[Change]>> {
        self.shared.subscribe()
    }

    /// Compares everything with the disk soon.
    pub fn rescan(&self) {
        // A thread that is gone has nothing to do with it any more.
        drop(self.signal.send(Signal::Rescan));
    }

    /// Compares everything with the disk and waits until that is done, so that a caller who wrote a file reads it in
    /// the next snapshot. Gives up after some seconds: then the snapshot follows later.
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
