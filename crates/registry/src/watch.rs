//! The thread that follows the disk.
//!
//! Events say where to look, never what happened: the folder they name is read
//! again. So a lost, doubled or reordered event does no harm, and renames need
//! no special case.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, NoCache, new_debouncer_opt};

use crate::live::{Shared, Watching};
use crate::options::Watch;
use crate::snapshot::Snapshot;

/// What wakes the thread.
pub(crate) enum Signal {
    /// Something happened to these paths.
    Touched(HashSet<PathBuf>),
    /// Events may be missing.
    Rescan,
    /// There are no more events, for this reason.
    Lost(String),
    Stop,
}

type Notifier = Debouncer<RecommendedWatcher, NoCache>;

/// The watches, and what they are set on.
pub(crate) struct Watcher {
    notifier: Option<Notifier>,
    watched: HashSet<PathBuf>,
}

impl Watcher {
    /// Sets watches on all roots, or falls back to polling.
    pub(crate) fn start(shared: &Arc<Shared>, signal: Sender<Signal>) -> Self {
        let mut watcher = Self {
            notifier: None,
            watched: HashSet::new(),
        };
        if shared.options.watch == Watch::Poll {
            shared.set_watching(Watching::Polling("asked for".to_owned()));
            return watcher;
        }
        match notifier(shared.options.settle, signal) {
            Ok(notifier) => watcher.notifier = Some(notifier),
            Err(problem) => shared.set_watching(Watching::Polling(problem.to_string())),
        }
        watcher.cover(shared);
        watcher
    }

    /// Follows the disk until it is told to stop.
    pub(crate) fn run(mut self, shared: &Shared, signals: &Receiver<Signal>) {
        // A file may have changed between the first scan and the first watch.
        self.refresh(shared, None);
        let mut next_rescan = Instant::now() + self.pause(shared);
        let mut waiting = None;
        loop {
            let wait = next_rescan.saturating_duration_since(Instant::now());
            let signal = waiting
                .take()
                .map_or_else(|| signals.recv_timeout(wait), Ok);
            match signal {
                Ok(Signal::Touched(mut paths)) => {
                    waiting = gather(&mut paths, signals);
                    self.refresh(shared, Some(&paths));
                    continue;
                }
                Ok(Signal::Lost(reason)) => self.give_up(shared, &reason),
                Ok(Signal::Rescan) | Err(RecvTimeoutError::Timeout) => self.refresh(shared, None),
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
            next_rescan = Instant::now() + self.pause(shared);
        }
    }

    fn pause(&self, shared: &Shared) -> Duration {
        match self.notifier {
            Some(_) => shared.options.rescan_every,
            None => shared.options.poll_every,
        }
    }

    /// Reads what was touched, or everything, and replaces the snapshot.
    fn refresh(&mut self, shared: &Shared, touched: Option<&HashSet<PathBuf>>) {
        let current = shared.current();
        let options = &shared.options;
        let tree = match touched {
            None => current.tree.rescan(options, &shared.now()),
            Some(paths) => current.tree.update(options, &shared.now(), paths),
        };
        shared.replace(Snapshot::index(tree, options));
        self.cover(shared);
    }

    /// Sets the watches that are missing: on each root, and on the nearest
    /// folder above it that exists, so that a root that is made, moved or
    /// replaced later is noticed.
    fn cover(&mut self, shared: &Shared) {
        for root in &shared.options.roots {
            let above = root.ancestors().skip(1).find(|above| above.is_dir());
            if let Some(above) = above {
                self.add(shared, above, RecursiveMode::NonRecursive);
            }
            if root.is_dir() {
                self.add(shared, root, RecursiveMode::Recursive);
            } else {
                self.watched.remove(root);
            }
        }
    }

    fn add(&mut self, shared: &Shared, path: &Path, mode: RecursiveMode) {
        let Some(notifier) = &mut self.notifier else {
            return;
        };
        if self.watched.contains(path) {
            return;
        }
        match notifier.watch(path, mode) {
            Ok(()) => {
                self.watched.insert(path.to_path_buf());
            }
            Err(problem) => self.give_up(shared, &problem.to_string()),
        }
    }

    /// Watches run out on big trees. Half of them would be a trap, so all are
    /// given back and everything is polled.
    fn give_up(&mut self, shared: &Shared, reason: &str) {
        self.notifier = None;
        self.watched.clear();
        tracing::warn!("file events are not available, polling instead: {reason}");
        shared.set_watching(Watching::Polling(reason.to_owned()));
    }
}

/// Adds whatever else was touched meanwhile, so that a burst is one pass;
/// returns the first signal of another kind.
fn gather(paths: &mut HashSet<PathBuf>, signals: &Receiver<Signal>) -> Option<Signal> {
    loop {
        match signals.try_recv().ok()? {
            Signal::Touched(more) => paths.extend(more),
            other => return Some(other),
        }
    }
}

fn notifier(settle: Duration, signal: Sender<Signal>) -> notify::Result<Notifier> {
    let handle = move |result: DebounceEventResult| {
        if let Some(message) = interpret(result) {
            // The registry is gone; so is the need for its events.
            drop(signal.send(message));
        }
    };
    // The cache of file ids is for pairing renames, which nothing here needs.
    new_debouncer_opt(settle, None, handle, NoCache, notify::Config::default())
}

fn interpret(result: DebounceEventResult) -> Option<Signal> {
    match result {
        Ok(events) => {
            if events.iter().any(|event| event.need_rescan()) {
                return Some(Signal::Rescan);
            }
            // Reading a file is an event too, and ours to ignore.
            let real = events
                .iter()
                .filter(|event| !matches!(event.kind, EventKind::Access(_)));
            let paths: HashSet<PathBuf> = real.flat_map(|event| event.paths.clone()).collect();
            (!paths.is_empty()).then_some(Signal::Touched(paths))
        }
        Err(problems) => {
            let exhausted = problems
                .iter()
                .find(|one| matches!(one.kind, notify::ErrorKind::MaxFilesWatch));
            Some(exhausted.map_or(Signal::Rescan, |one| Signal::Lost(one.to_string())))
        }
    }
}

/// Whether events can be had for all of these folders; the watches are given
/// back at once.
pub fn can_watch(roots: &[PathBuf]) -> Result<(), String> {
    let watch = || -> notify::Result<()> {
        let mut watcher = notify::recommended_watcher(|_: notify::Result<notify::Event>| {})?;
        for root in roots.iter().filter(|root| root.is_dir()) {
            notify::Watcher::watch(&mut watcher, root, RecursiveMode::Recursive)?;
        }
        Ok(())
    };
    watch().map_err(|problem| problem.to_string())
}
