//! The thread that follows the disk.
//!
//! Events say where to look, never what happened: the folder they name is read
//! again once it is quiet. So a doubled or reordered event does no harm, and
//! renames need no special case. For the same reason events are gathered here
//! and not by a debouncer, which would drop the creation and removal of a file
//! as a pair although a scan in between has seen the file.
//!
//! Every folder has a watch of its own: that way links are followed, and a
//! folder that may not be read costs only its own events. A folder that links
//! lead to under several names, or to itself, has one watch, and an event in it
//! counts for each name: the system knows folders, not names, and would tell
//! only of the name that was given last.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::options::{Options, Watch};
use crate::shared::{Shared, WatchMode};

/// What wakes the thread.
pub(crate) enum Signal {
    /// Something happened to these paths.
    Touched(HashSet<PathBuf>),
    /// Events are missing.
    Lost,
    /// Everything is to be compared.
    Rescan,
    /// The same, and the sender waits until it is done.
    CatchUp(Sender<()>),
    Stop,
}

/// The watches, and what they are set on.
pub(crate) struct Watcher {
    signal: Sender<Signal>,
    notifier: Option<RecommendedWatcher>,
    /// Folders by their names here, with what they really are.
    watched: BTreeMap<PathBuf, PathBuf>,
    /// What has a watch, with its names here.
    names: HashMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Watcher {
    /// Sets watches on everything that is loaded, or falls back to polling.
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

    /// Follows the disk until it is told to stop.
    pub(crate) fn run(mut self, shared: &Shared, signals: &Receiver<Signal>) {
        // A file may have changed between the first scan and the first watch.
        self.guarded(shared, |watcher| {
            shared.replace(shared.current().catch_up(&shared.options, &shared.now()));
            watcher.cover_all(shared);
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
                    waiting = gather(&mut paths, shared.options.settle, signals);
                    let paths = self.named(&paths);
                    self.guarded(shared, |watcher| watcher.refresh(shared, Some(&paths)));
                    shared.write_log(true);
                    continue;
                }
                Err(RecvTimeoutError::Timeout) if quiet.is_some() => {
                    shared.write_log(false);
                    continue;
                }
                Ok(Signal::Lost) => {
                    self.restart(shared);
                    self.guarded(shared, |watcher| watcher.refresh(shared, None));
                }
                Ok(Signal::Rescan) | Err(RecvTimeoutError::Timeout) => {
                    self.guarded(shared, |watcher| watcher.refresh(shared, None));
                }
                Ok(Signal::CatchUp(done)) => {
                    self.guarded(shared, |watcher| watcher.refresh(shared, None));
                    shared.write_log(true);
                    // A caller that waits no more needs no answer.
                    let _told = done.send(());
                }
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    return shared.write_log(false);
                }
            }
            next_rescan = Instant::now() + self.pause(&shared.options);
        }
    }

    /// A fault in one pass must not end all the following ones: it is said, and
    /// what was loaded stays.
    fn guarded(&mut self, shared: &Shared, pass: impl FnOnce(&mut Self)) {
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

    /// Reads what was touched, or everything, and sets the watches that are
    /// missing. Whatever was put into a folder before its watch was set made no
    /// event, so such folders are read once more.
    fn refresh(&mut self, shared: &Shared, touched: Option<&HashSet<PathBuf>>) {
        touched
            .into_iter()
            .flatten()
            .for_each(|path| self.forget(path));
        reread(shared, touched);
        self.cover_all(shared);
    }

    /// Sets watches until none is missing.
    fn cover_all(&mut self, shared: &Shared) {
        let mut fresh = self.cover(shared);
        while !fresh.is_empty() {
            reread(shared, Some(&fresh));
            fresh = self.cover(shared);
        }
    }

    /// A folder that an event names may be another one now, or gone, together
    /// with those below it; their watches are set anew if they are still there.
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
                // The watch may have gone with its folder.
                drop(notifier.unwatch(&real));
            }
        }
    }

    /// What events tell of, under every name that it has here.
    fn named(&self, paths: &HashSet<PathBuf>) -> HashSet<PathBuf> {
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

    /// Sets the watches that are missing and returns what they are on: each
    /// folder that was read, and for each root the nearest folder above it, so
    /// that a root that is made, moved or replaced later is noticed.
    fn cover(&mut self, shared: &Shared) -> HashSet<PathBuf> {
        let snapshot = shared.current();
        let roots = shared.options.followed();
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

    /// Sets a watch; says whether it was set.
    fn add(&mut self, shared: &Shared, path: &Path) -> bool {
        let Some(notifier) = &mut self.notifier else {
            return false;
        };
        // A folder that is gone already has no watch.
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
            // The folder is gone already, or may not be read: the scan says so.
            Err(_) => false,
        }
    }

    /// Begins anew with no watches; the next pass sets them.
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

    /// Watches run out on big trees. Half of them would be a trap, so all are
    /// given back and everything is polled.
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

/// Adds whatever else is touched until it is quiet, so that a save in several
/// steps and a burst of saves are one pass; returns the first signal of another
/// kind. A writer that never stops is not waited for.
fn gather(
    paths: &mut HashSet<PathBuf>,
    settle: Duration,
    signals: &Receiver<Signal>,
) -> Option<Signal> {
    let latest = Instant::now() + 3 * settle;
    while let rest @ 1.. = latest.saturating_duration_since(Instant::now()).as_nanos() {
        let rest = Duration::from_nanos(u64::try_from(rest).unwrap_or(u64::MAX));
        match signals.recv_timeout(settle.min(rest)) {
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
            // The registry is gone; so is the need for its events.
            drop(signal.send(message));
        }
    })
}

fn interpret(event: notify::Result<notify::Event>) -> Option<Signal> {
    match event {
        Ok(event) if event.need_rescan() => Some(Signal::Lost),
        // Reading a file is an event too, and ours to ignore.
        Ok(event) if matches!(event.kind, EventKind::Access(_)) => None,
        Ok(event) => Some(Signal::Touched(event.paths.into_iter().collect())),
        Err(_) => Some(Signal::Rescan),
    }
}

/// Whether events can be had for all folders below these; the watches are given
/// back at once.
pub fn can_watch(roots: &[PathBuf]) -> Result<(), String> {
    let watch = || -> notify::Result<()> {
        let unheard = |_: notify::Result<notify::Event>| {};
        // A link may lead to the whole disk.
        let config = notify::Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(unheard, config)?;
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
