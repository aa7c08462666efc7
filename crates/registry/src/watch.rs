//! The thread that follows the disk.
//!
//! Events say where to look, never what happened: the folder they name is read
//! again once it is quiet. So a lost, doubled or reordered event does no harm,
//! and renames need no special case. For the same reason events are gathered
//! here and not by a debouncer, which would drop the creation and removal of a
//! file as a pair although a scan in between has seen the file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::live::{Shared, Watching};
use crate::options::Watch;
use crate::stamp::{FolderId, folder_id};

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

/// The watches, and what they are set on.
pub(crate) struct Watcher {
    notifier: Option<RecommendedWatcher>,
    /// A path may come to stand for another folder, so both are kept.
    watched: HashMap<PathBuf, FolderId>,
}

impl Watcher {
    /// Sets watches on all roots, or falls back to polling.
    pub(crate) fn start(shared: &Arc<Shared>, signal: Sender<Signal>) -> Self {
        let mut watcher = Self {
            notifier: None,
            watched: HashMap::new(),
        };
        if shared.options.watch == Watch::Poll {
            shared.set_watching(Watching::Polling("asked for".to_owned()));
            return watcher;
        }
        match notifier(signal) {
            Ok(notifier) => watcher.notifier = Some(notifier),
            Err(problem) => shared.set_watching(Watching::Polling(problem.to_string())),
        }
        watcher.cover(shared);
        watcher
    }

    /// Follows the disk until it is told to stop.
    pub(crate) fn run(mut self, shared: &Shared, signals: &Receiver<Signal>) {
        let mut next_rescan = Instant::now() + self.pause(shared);
        let mut waiting = None;
        loop {
            let wait = next_rescan.saturating_duration_since(Instant::now());
            let signal = waiting
                .take()
                .map_or_else(|| signals.recv_timeout(wait), Ok);
            match signal {
                Ok(Signal::Touched(mut paths)) => {
                    waiting = gather(&mut paths, shared.options.settle, signals);
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
        let moment = shared.now();
        shared.replace(match touched {
            None => current.rescan(options, &moment),
            Some(paths) => current.update(options, &moment, paths),
        });
        // Whatever was put into a folder before its watch was set made no event.
        if self.cover(shared) {
            self.refresh(shared, None);
        }
    }

    /// Sets the watches that are missing: on each root, and on the nearest
    /// folder above it that exists, so that a root that is made, moved or
    /// replaced later is noticed.
    fn cover(&mut self, shared: &Shared) -> bool {
        let mut added = false;
        for root in &shared.options.roots {
            let above = root.ancestors().skip(1).find(|above| above.is_dir());
            if let Some(above) = above {
                added |= self.add(shared, above, RecursiveMode::NonRecursive);
            }
            added |= self.add(shared, root, RecursiveMode::Recursive);
        }
        added
    }

    /// Sets a watch unless it is set already; says whether it was.
    fn add(&mut self, shared: &Shared, path: &Path, mode: RecursiveMode) -> bool {
        let Some(notifier) = &mut self.notifier else {
            return false;
        };
        let present = folder_id(path).ok().filter(|_| path.is_dir());
        if self.watched.get(path) == present.as_ref() {
            return false;
        }
        if self.watched.remove(path).is_some() {
            // The watch is on a folder that is elsewhere now, or gone.
            drop(notifier.unwatch(path));
        }
        let Some(id) = present else {
            return false;
        };
        match notifier.watch(path, mode) {
            Ok(()) => self.watched.insert(path.to_path_buf(), id).is_none(),
            Err(problem) => {
                self.give_up(shared, &problem.to_string());
                false
            }
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

/// Adds whatever else is touched until it is quiet, so that a save in several
/// steps and a burst of saves are one pass; returns the first signal of another
/// kind. Somebody who never stops writing is not waited for.
fn gather(
    paths: &mut HashSet<PathBuf>,
    settle: Duration,
    signals: &Receiver<Signal>,
) -> Option<Signal> {
    let latest = Instant::now() + 3 * settle;
    loop {
        let rest = latest.saturating_duration_since(Instant::now());
        match signals.recv_timeout(settle.min(rest)) {
            Ok(Signal::Touched(more)) => paths.extend(more),
            Ok(other) => return Some(other),
            Err(_) => return None,
        }
    }
}

fn notifier(signal: Sender<Signal>) -> notify::Result<RecommendedWatcher> {
    notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Some(message) = interpret(event) {
            // The registry is gone; so is the need for its events.
            drop(signal.send(message));
        }
    })
}

fn interpret(event: notify::Result<notify::Event>) -> Option<Signal> {
    match event {
        Ok(event) if event.need_rescan() => Some(Signal::Rescan),
        // Reading a file is an event too, and ours to ignore.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => None,
        Ok(event) => Some(Signal::Touched(event.paths.into_iter().collect())),
        Err(problem) if matches!(problem.kind, notify::ErrorKind::MaxFilesWatch) => {
            Some(Signal::Lost(problem.to_string()))
        }
        Err(_) => Some(Signal::Rescan),
    }
}

/// Whether events can be had for all of these folders; the watches are given
/// back at once.
pub fn can_watch(roots: &[PathBuf]) -> Result<(), String> {
    let watch = || -> notify::Result<()> {
        let mut watcher = notify::recommended_watcher(|_: notify::Result<notify::Event>| {})?;
        for root in roots.iter().filter(|root| root.is_dir()) {
            watcher.watch(root, RecursiveMode::Recursive)?;
        }
        Ok(())
    };
    watch().map_err(|problem| problem.to_string())
}
