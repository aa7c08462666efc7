//! State shared by a registry and its watcher thread: the current snapshot and its listeners.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use arc_swap::ArcSwap;
use deft_skillfile::Moment;
use parking_lot::Mutex;

use crate::change::{Change, changes};
use crate::change_log::{self, ChangeLog, QUIET_PERIOD};
use crate::options::Options;
use crate::snapshot::Snapshot;

/// How changes are currently detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// By events of the operating system.
    Events,
    /// By polling, with the reason.
    Polling(String),
}

/// State shared by the registry and its thread.
pub(crate) struct Shared {
    pub options: Options,
    current: ArcSwap<Snapshot>,
    watching: ArcSwap<WatchMode>,
    listeners: Mutex<Vec<Sender<Arc<[Change]>>>>,
    log: Mutex<ChangeLog>,
    clock: Box<dyn Fn() -> Moment + Send + Sync>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(
        first: Snapshot,
        options: Options,
        clock: impl Fn() -> Moment + Send + Sync + 'static,
    ) -> Self {
        Self {
            options,
            current: ArcSwap::from_pointee(first),
            watching: ArcSwap::from_pointee(WatchMode::Events),
            listeners: Mutex::default(),
            log: Mutex::default(),
            clock: Box::new(clock),
        }
    }

    /// Returns the current time and time zone.
    pub(crate) fn now(&self) -> Moment {
        (self.clock)()
    }

    pub(crate) fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    pub(crate) fn watch_mode(&self) -> WatchMode {
        self.watching.load().as_ref().clone()
    }

    /// Returns a channel that receives every accepted change from now on.
    pub(crate) fn subscribe(&self) -> Receiver<Arc<[Change]>> {
        let (sender, receiver) = mpsc::channel();
        self.listeners.lock().push(sender);
        receiver
    }

    pub(crate) fn set_watching(&self, watching: WatchMode) {
        self.watching.store(Arc::new(watching));
    }

    /// Replaces the current snapshot, adds the differences to the log and notifies the listeners.
    pub(crate) fn replace(&self, snapshot: Snapshot) {
        let changes: Arc<[Change]> = changes(&self.current.load(), &snapshot).into();
        self.current.store(Arc::new(snapshot));
        if changes.is_empty() {
            return;
        }
        let mut log = self.log.lock();
        changes.iter().for_each(|change| log.add(change.clone()));
        drop(log);
        self.listeners
            .lock()
            .retain(|listener| listener.send(Arc::clone(&changes)).is_ok());
    }

    /// Returns how long the thread may wait for the next signal if log lines are pending.
    pub(crate) fn log_wait(&self) -> Option<Duration> {
        (!self.log.lock().is_empty()).then_some(QUIET_PERIOD)
    }

    /// Writes pending log lines; if `only_late`, only those that have waited too long.
    pub(crate) fn write_log(&self, only_late: bool) {
        let mut log = self.log.lock();
        if !only_late || log.is_late() {
            log.take().iter().for_each(change_log::write);
        }
    }
}
