//! The thread that watches the file system.
//!
//! Events only tell where to look, not what happened: the folder they name is read again once it is quiet.
//! Therefore duplicate or reordered events do no harm, and renames need no special case. For the same reason
//! events are collected here and not by a debouncer, which would drop the creation and removal of a file as a
//! pair although a scan in between has seen the file.
//!
//! Every folder has its own watch: this way links are followed, and an unreadable folder only loses its own
//! events. A folder that links reach under several names, or that links to itself, has one watch, and an
//! event in it counts for each name: the operating system watches folders, not names, and would only report
//! the name that was registered last.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::options::{Options, Watch};
use crate::shared::{Shared, WatchMode};

/// A message to the thread.
pub(crate) enum Signal {
    /// Something changed at these paths.
    Touched(HashSet<PathBuf>),
    /// Events were lost.
    Lost,
    /// Compare everything with the file system.
    Rescan,
    /// Like `Rescan`; the sender waits for the reply.
    CatchUp(Sender<()>),
    Stop,
}

/// The watches of the operating system, and the folders they are set on.
pub(crate) struct Watcher {
    signal: Sender<Signal>,
    notifier: Option<RecommendedWatcher>,
    /// Watched paths with their canonical paths.
    watched: BTreeMap<PathBuf, PathBuf>,
    /// Canonical paths that have a watch, with the paths that lead to them.
    names: HashMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Watcher {
    /// Sets watches on all loaded folders, or falls back to polling.
    pub(crate) fn start(shared: &Shared, signal: Sender<Signal>) -> Self {
        let mut watcher = Self {
            signal,
            notifier: None,
            watched: BTreeMap::new(),
            names: HashMap::new(),
        };
        watcher.restart(shared);
        watcher
    }

    /// Processes signals until it receives `Stop`.
    pub(crate) fn run(mut self, shared: &Shared, signals: &Receiver<Signal>) {
        // A file may have changed between the first scan and the first watch.
        self.run_guarded(shared, |watcher| {
            shared.replace(shared.current().catch_up(&shared.options, &shared.now()));
            watcher.add_all_watches(shared);
        });
        let mut next_rescan = Instant::now() + self.pause(&shared.options);
        let mut waiting = None;
        loop {
            let rescan = next_rescan.saturating_duration_since(Instant::now());
            let quiet = shared.log_wait().filter(|quiet| *quiet < rescan);
            let wait = quiet.unwrap_or(rescan);
            let signal = waiting
                .take()
                .map_or_else(|| signals.recv_timeout(wait), Ok);
            match signal {
                Ok(Signal::Touched(mut paths)) => {
                    waiting = gather(&mut paths, shared.options.quiet_period, signals);
                    let paths = self.linked_paths(&paths);
                    self.run_guarded(shared, |watcher| watcher.refresh(shared, Some(&paths)));
                    shared.write_log(true);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) if quiet.is_some() => {
                    shared.write_log(false);
                    continue;
                }
                Ok(Signal::Lost) => {
                    self.restart(shared);
                    self.run_guarded(shared, |watcher| watcher.refresh(shared, None));
                }
                Ok(Signal::Rescan) | Err(RecvTimeoutError::Timeout) => {
                    self.run_guarded(shared, |watcher| watcher.refresh(shared, None));
                }
                Ok(Signal::CatchUp(done)) => {
                    self.run_guarded(shared, |watcher| watcher.refresh(shared, None));
                    shared.write_log(true);
                    // The caller may have stopped waiting.
                    let _told = done.send(());
                }
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    return shared.write_log(false);
                }
            }
            next_rescan = Instant::now() + self.pause(&shared.options);
        }
    }

    /// Runs one pass and catches panics: a panic is logged, the loaded skills stay in use, and later passes
    /// still run.
    fn run_guarded(&mut self, shared: &Shared, pass: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| pass(self))).is_err() {
            tracing::error!("reading skills failed; the loaded skills stay in use");
            self.restart(shared);
        }
    }

    fn pause(&self, options: &Options) -> Duration {
        match self.notifier {
            Some(_) => options.rescan_every,
            None => options.poll_every,
        }
    }

    /// Reads what was touched, or everything, and sets missing watches. Files created in a folder before its
    /// watch was set caused no event, so such folders are read again.
    fn refresh(&mut self, shared: &Shared, touched: Option<&HashSet<PathBuf>>) {
        touched
            .into_iter()
            .flatten()
            .for_each(|path| self.forget(path));
        reread(shared, touched);
        self.add_all_watches(shared);
    }

    /// Sets watches until none is missing.
    fn add_all_watches(&mut self, shared: &Shared) {
        let mut fresh = self.cover(shared);
        while !fresh.is_empty() {
            reread(shared, Some(&fresh));
            fresh = self.cover(shared);
        }
    }

    /// Removes the watches at and below a path that an event named, because the folder may have been removed
    /// or replaced. Existing folders get a new watch later.
    fn forget(&mut self, path: &Path) {
        let below = self.watched.range(path.to_path_buf()..);
        let gone: Vec<(PathBuf, PathBuf)> = below
            .take_while(|(below, _)| below.starts_with(path))
            .map(|(name, real)| (name.clone(), real.clone()))
            .collect();
        for (name, real) in gone {
            self.watched.remove(&name);
            if let Some(names) = self.names.get_mut(&real) {
                names.remove(&name);
                if !names.is_empty() {
                    continue;
                }
            }
            self.names.remove(&real);
            if let Some(notifier) = &mut self.notifier {
                // The watch may have been removed together with its folder.
                drop(notifier.unwatch(&real));
            }
        }
    }

    /// Maps the paths in events to all paths that lead to the same folder.
    fn linked_paths(&self, paths: &HashSet<PathBuf>) -> HashSet<PathBuf> {
        let mut named = HashSet::new();
        for path in paths {
            let before = named.len();
            named.extend(self.names.get(path).into_iter().flatten().cloned());
            if let (Some(folder), Some(file)) = (path.parent(), path.file_name()) {
                let folders = self.names.get(folder).into_iter().flatten();
                named.extend(folders.map(|folder| folder.join(file)));
            }
            if named.len() == before {
                named.insert(path.clone());
            }
        }
        named
    }

    /// Sets missing watches and returns the paths they were set on: each folder that was read, and for each
    /// root the nearest existing folder above it, so that a root that is created, moved or replaced later is
    /// noticed.
    fn cover(&mut self, shared: &Shared) -> HashSet<PathBuf> {
        let snapshot = shared.current();
        let roots = shared.options.followed_folders();
        let above = roots.filter_map(|root| root.ancestors().skip(1).find(|above| above.is_dir()));
        let wanted: Vec<&Path> = above.chain(snapshot.watched_folders()).collect();
        let mut fresh = HashSet::new();
        for path in wanted {
            if !self.watched.contains_key(path) && self.add(shared, path) {
                fresh.insert(path.to_path_buf());
            }
        }
        fresh
    }

    /// Sets a watch; returns whether it was set.
    fn add(&mut self, shared: &Shared, path: &Path) -> bool {
        let Some(notifier) = &mut self.notifier else {
            return false;
        };
        // A folder that was already removed has no watch.
        let Ok(real) = path.canonicalize() else {
            return false;
        };
        let watched = if self.names.contains_key(&real) {
            Ok(())
        } else {
            notifier.watch(&real, RecursiveMode::NonRecursive)
        };
        match watched {
            Ok(()) => {
                let names = self.names.entry(real.clone()).or_default();
                names.insert(path.to_path_buf());
                self.watched.insert(path.to_path_buf(), real);
                true
            }
            Err(problem) if matches!(problem.kind, notify::ErrorKind::MaxFilesWatch) => {
                self.give_up(shared, &problem.to_string());
                false
            }
            // The folder was removed or is unreadable; the scan reports it.
            Err(_) => false,
        }
    }

    /// Restarts without watches; the next pass sets them.
    fn restart(&mut self, shared: &Shared) {
        self.watched.clear();
        self.names.clear();
        self.notifier = None;
        if shared.options.watch == Watch::Poll {
            shared.set_watching(WatchMode::Polling("asked for".to_owned()));
            return;
        }
        match notifier(self.signal.clone()) {
            Ok(notifier) => {
                self.notifier = Some(notifier);
                shared.set_watching(WatchMode::Events);
                self.cover(shared);
            }
            Err(problem) => self.give_up(shared, &problem.to_string()),
        }
    }

    /// Falls back to polling. Big trees can exceed the number of available watches. Watching only a part
    /// would miss changes silently, so all watches are removed.
    fn give_up(&mut self, shared: &Shared, reason: &str) {
        self.notifier = None;
        self.watched.clear();
        self.names.clear();
        tracing::warn!("file events are not available, polling instead: {reason}");
        shared.set_watching(WatchMode::Polling(reason.to_owned()));
    }
}

/// Reads what was touched, or everything, and replaces the snapshot.
fn reread(shared: &Shared, touched: Option<&HashSet<PathBuf>>) {
    let (current, moment) = (shared.current(), shared.now());
    let next = match touched {
        None => Some(current.rescan(&shared.options, &moment)),
        Some(paths) => current.update(&shared.options, &moment, paths),
    };
    next.into_iter()
        .for_each(|snapshot| shared.replace(snapshot));
}

/// Collects touched paths until there are no more events for `quiet_period`, so that a save in several steps or a
/// burst of saves needs only one pass. Returns the first signal of another kind. Waits at most three times
/// `quiet_period`, in case a writer never stops.
fn gather(
    paths: &mut HashSet<PathBuf>,
    quiet_period: Duration,
    signals: &Receiver<Signal>,
) -> Option<Signal> {
    let latest = Instant::now() + 3 * quiet_period;
    while let rest @ 1.. = latest.saturating_duration_since(Instant::now()).as_nanos() {
        let rest = Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX));
        match signals.recv_timeout(quiet_period.min(rest)) {
            Ok(Signal::Touched(more)) => paths.extend(more),
            Ok(other) => return Some(other),
            Err(_) => return None,
        }
    }
    None
}

fn notifier(signal: Sender<Signal>) -> notify::Result<RecommendedWatcher> {
    notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Some(message) = interpret(event) {
            // If the registry has ended, the event is not needed.
            drop(signal.send(message));
        }
    })
}

fn interpret(event: notify::Result<notify::Event>) -> Option<Signal> {
    match event {
        Ok(event) if event.need_rescan() => Some(Signal::Lost),
        // Reading a file is an event too, and is ignored.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => None,
        Ok(event) => Some(Signal::Touched(event.paths.into_iter().collect())),
        Err(_) => Some(Signal::Rescan),
    }
}

/// Checks whether there are enough watches for all folders below `roots`; the watches are removed again.
pub fn can_watch(roots: &[PathBuf]) -> Result<(), String> {
    let watch = || -> notify::Result<()> {
        let ignore = |_: notify::Result<notify::Event>| {};
        // A link may lead to the whole file system.
        let config = notify::Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(ignore, config)?;
        for root in roots.iter().filter(|root| root.is_dir()) {
            watcher.watch(root, RecursiveMode::Recursive)?;
        }
        Ok(())
    };
    match watch() {
        Err(problem) if matches!(problem.kind, notify::ErrorKind::MaxFilesWatch) => {
            Err(problem.to_string())
        }
        _ => Ok(()),
    }
}
