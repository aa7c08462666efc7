//! Orphaned descendants, adopted by deft instead of by the system.
//!
//! On Linux a process can become the parent of all orphans below it. Thus a descendant of a server that
//! changes its session, its parent and its environment is still a child of deft. In return deft has to
//! reap such children, or they would stay in the process table. A thread does both while owners exist.
//!
//! Not here: killing processes (`owner.rs`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Once, OnceLock};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, WaitOptions, getpgrp, waitpid};

use super::owner::{VARIABLE, with_descendants};
use super::proc::{self, Process};
use super::{CleanupEntry, cleanup_shell};

/// The interval between two searches for orphans.
const PERIOD: Duration = Duration::from_secs(2);
/// How long an ended child is left for another module to reap.
const REAP_DELAY: Duration = Duration::from_secs(30);

/// The live owners, and known orphans.
#[derive(Default)]
pub(super) struct Registry {
    owners: BTreeMap<String, Entry>,
    /// Markers of released owners, whose processes may keep running.
    released: BTreeSet<String>,
    /// Ended children that may belong to another module, and when they were first seen.
    ended: HashMap<(i32, u64), Instant>,
    /// Orphans whose variable names no owner; killed when deft ends.
    strays: HashMap<(i32, u64), CleanupEntry>,
}

struct Entry {
    leader: u32,
    began: u64,
}

impl Registry {
    /// Adds an owner; returns when its program began.
    pub(super) fn add(&mut self, marker: &str, leader: u32) -> u64 {
        let process = i32::try_from(leader).ok().and_then(proc::one);
        let began = process.map_or(0, |process| process.began);
        let entry = Entry { leader, began };
        self.owners.insert(marker.to_owned(), entry);
        keep_watch();
        began
    }

    /// Removes an owner; if `released`, its processes may keep running.
    pub(super) fn remove(&mut self, marker: &str, released: bool) {
        self.owners.remove(marker);
        if released {
            self.released.insert(marker.to_owned());
        }
    }

    /// Whether an orphan without the variable can only belong to this owner: it began while this owner
    /// was alive, and no other live owner existed then.
    pub(super) fn is_stray_of(&self, process: &Process, marker: &str) -> bool {
        if !self.is_adopted(process) || self.is_marked(process) {
            return false;
        }
        let was_there = |entry: &Entry| entry.began <= process.began;
        let mut others = self.owners.iter().filter(|(other, _)| *other != marker);
        self.owners.get(marker).is_some_and(was_there) && !others.any(|(_, entry)| was_there(entry))
    }

    /// Whether a live child of deft was started by another process. deft's own children are registered,
    /// are in deft's group, or run deft's program.
    fn is_adopted(&self, process: &Process) -> bool {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        process.parent == own
            && !process.is_zombie
            && !self.is_child(process)
            && process.group != getpgrp().as_raw_nonzero().get()
            && !proc::is_this_program(process.pid)
    }

    fn is_child(&self, process: &Process) -> bool {
        let pid = u32::try_from(process.pid).unwrap_or_default();
        let mut owners = self.owners.values();
        owners.any(|entry| entry.leader == pid) || cleanup_shell::is_cleanup_shell(pid)
    }

    /// Whether the variable of a process names its owner.
    fn is_marked(&self, process: &Process) -> bool {
        let marker = proc::variable(process.pid, VARIABLE);
        marker.is_some_and(|marker| {
            self.owners.contains_key(&marker) || self.released.contains(&marker)
        })
    }

    /// Reaps ended orphans, and registers new ones with the cleanup shell.
    fn look(&mut self) {
        let ours = proc::children();
        let mut still_ended = HashMap::new();
        for process in ours.iter().filter(|process| process.is_zombie) {
            let key = (process.pid, process.began);
            let since = self.ended.get(&key).copied().unwrap_or_else(Instant::now);
            if self.may_reap(process, since) {
                wait_for(process);
            } else {
                still_ended.insert(key, since);
            }
        }
        self.ended = still_ended;
        let adopted = ours.iter().filter(|process| self.is_adopted(process));
        let (marked, strays): (Vec<&Process>, Vec<&Process>) =
            adopted.partition(|process| self.is_marked(process));
        let markers: BTreeSet<String> = marked
            .iter()
            .filter_map(|process| proc::variable(process.pid, VARIABLE))
            .collect();
        self.released.retain(|marker| markers.contains(marker));
        self.register_strays(strays.iter().map(|process| process.pid).collect());
    }

    /// Registers processes and their descendants with the cleanup shell, and unregisters those that have ended.
    fn register_strays(&mut self, strays: Vec<i32>) {
        let mut known = std::mem::take(&mut self.strays);
        if strays.is_empty() {
            return;
        }
        let table = proc::all();
        let strays = with_descendants(&table, strays);
        for stray in table.iter().filter(|process| strays.contains(&process.pid)) {
            let key = (stray.pid, stray.began);
            let bequest = known.remove(&key);
            let bequest = bequest.unwrap_or_else(|| CleanupEntry::of_process(stray));
            self.strays.insert(key, bequest);
        }
    }

    /// Whether deft may reap an ended child. A child that leads no group and is not in deft's group was
    /// adopted. Any other child may still be reaped by another module of this program.
    fn may_reap(&self, process: &Process, since: Instant) -> bool {
        if self.is_child(process) {
            return false;
        }
        let was_stray = self.strays.contains_key(&(process.pid, process.began));
        let own_group = getpgrp().as_raw_nonzero().get();
        let is_foreign = process.group != process.pid && process.group != own_group;
        was_stray || is_foreign || since.elapsed() >= REAP_DELAY
    }
}

fn wait_for(process: &Process) {
    if let Some(pid) = Pid::from_raw(process.pid) {
        // Another thread may have reaped it already.
        waitpid(Some(pid), WaitOptions::NOHANG).ok();
    }
}

/// Returns the registry of this process.
pub(super) fn registry() -> MutexGuard<'static, Registry> {
    static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(Mutex::default).lock()
}

/// Reaps ended orphans now.
pub(super) fn reap() {
    registry().look();
}

/// Makes deft the parent of orphans. Must happen before the first program starts: a descendant that is
/// orphaned earlier would belong to the system from then on.
pub(super) fn adopt() {
    static BECOME_PARENT: Once = Once::new();
    BECOME_PARENT.call_once(become_parent_of_orphans);
}

/// Starts the thread that searches for orphans, or wakes it.
fn keep_watch() {
    static WATCH: OnceLock<Option<Thread>> = OnceLock::new();
    let watch = WATCH.get_or_init(|| {
        let thread = thread::Builder::new().name("deft-orphans".to_owned());
        let started = thread.spawn(watch_orphans);
        started.ok().map(|handle| handle.thread().clone())
    });
    if let Some(thread) = watch {
        thread.unpark();
    }
}

fn watch_orphans() {
    loop {
        let idle = {
            let mut registry = registry();
            registry.look();
            registry.owners.is_empty()
                && registry.released.is_empty()
                && registry.strays.is_empty()
                && registry.ended.is_empty()
        };
        if idle {
            thread::park();
        } else {
            thread::sleep(PERIOD);
        }
    }
}

#[cfg(target_os = "linux")]
fn become_parent_of_orphans() {
    // If this fails, orphans are still found by their variable.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).ok();
}

#[cfg(not(target_os = "linux"))]
fn become_parent_of_orphans() {}
