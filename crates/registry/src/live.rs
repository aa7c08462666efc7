//! A registry that follows the disk.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use arc_swap::ArcSwap;
use deft_skillfile::Moment;
use parking_lot::Mutex;

use crate::change::{Change, changes};
use crate::options::Options;
use crate::snapshot::Snapshot;
use crate::watch::{self, Signal};

/// How changes are noticed at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// By events of the operating system.
    Events,
    /// By polling, for this reason.
    Polling(String),
}

/// Skills that are loaded and followed. Readers take a snapshot and never
/// wait; one thread replaces it.
#[derive(Debug)]
pub struct Registry {
    shared: Arc<Shared>,
    signal: Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

/// What the registry and its thread share.
pub(crate) struct Shared {
    pub options: Options,
    current: ArcSwap<Snapshot>,
    watching: ArcSwap<WatchMode>,
    listeners: Mutex<Vec<Sender<Arc<[Change]>>>>,
    clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
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
        let shared = Arc::new(Shared {
            options,
            current: ArcSwap::from_pointee(first),
            watching: ArcSwap::from_pointee(WatchMode::Events),
            listeners: Mutex::default(),
            clock: Box::new(clock),
        });
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
        self.shared.current.load_full()
    }

    /// How changes are noticed at the moment.
    pub fn watching(&self) -> WatchMode {
        self.shared.watching.load().as_ref().clone()
    }

    /// Announces every accepted change from now on.
    pub fn subscribe(&self) -> Receiver<Arc<[Change]>> {
        let (sender, receiver) = mpsc::channel();
        self.shared.listeners.lock().push(sender);
        receiver
    }

    /// Compares everything with the disk soon.
    pub fn rescan(&self) {
        // A thread that is gone has nothing to do with it any more.
        drop(self.signal.send(Signal::Rescan));
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

impl Shared {
    /// The present.
    pub(crate) fn now(&self) -> Moment {
        (self.clock)()
    }

    pub(crate) fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    pub(crate) fn set_watching(&self, watching: WatchMode) {
        self.watching.store(Arc::new(watching));
    }

    /// Makes a snapshot the current one, logs what is different and tells the
    /// listeners.
    pub(crate) fn replace(&self, snapshot: Snapshot) {
        let changes: Arc<[Change]> = changes(&self.current.load(), &snapshot).into();
        self.current.store(Arc::new(snapshot));
        if changes.is_empty() {
            return;
        }
        changes.iter().for_each(log);
        self.listeners
            .lock()
            .retain(|listener| listener.send(Arc::clone(&changes)).is_ok());
    }
}

/// One line per accepted reload (S2.20).
fn log(change: &Change) {
    match change {
        Change::Broken { .. } => tracing::warn!("{change}"),
        Change::Loaded { .. }
        | Change::Removed { .. }
        | Change::Agent { .. }
        | Change::Domain { .. } => {
            tracing::info!("{change}");
        }
    }
}
