//! The owner of all processes that a server or a call of `shell.run` has started.
//!
//! A process can leave its group (`setsid`) and its parent (a double fork). Therefore every program is
//! started with a variable of random value, which its descendants inherit, and deft becomes the parent
//! of descendants whose own parent has ended (`orphans.rs`), including those that removed the variable.
//! Killing an owner stops all its processes first, so that none can start another one meanwhile.
//!
//! Not here: the end of deft itself (`cleanup_shell.rs`). A process that another service starts on request
//! (`systemd-run`, `at`, cron) is out of reach; only a sandbox could prevent that.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;
use tokio::process::{Child, Command};

use super::orphans;
use super::proc::{self, Process};
use super::{CleanupEntry, kill_group};

/// The variable that descendants inherit.
pub(super) const VARIABLE: &str = "DEFT_OWNER";

/// The maximum number of times to search for new processes before the found ones are killed.
const ROUNDS: usize = 20;

/// The owner of a program and all its descendants.
#[derive(Debug)]
pub(crate) struct Owner {
    marker: String,
    leader: u32,
    /// When the program began, in ticks since the system booted.
    began: u64,
    released: AtomicBool,
    /// Kills the processes even if deft cannot.
    _bequest: CleanupEntry,
}

impl Owner {
    /// Starts a program with a new owner. `command` must lead its own process group.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Self, Child)> {
        let marker = random();
        command.env(VARIABLE, &marker);
        orphans::adopt();
        // Held during the start, so that no other thread reaps the new child.
        let mut registry = orphans::registry();
        let child = command.spawn()?;
        let leader = child.id().unwrap_or_default();
        let began = registry.add(&marker, leader);
        drop(registry);
        let bequest = CleanupEntry::new(leader, &marker);
        Ok((
            Self {
                marker,
                leader,
                began,
                released: AtomicBool::new(false),
                _bequest: bequest,
            },
            child,
        ))
    }

    /// Sends a signal to the program's process group.
    pub(crate) fn signal_group(&self, signal: Signal) {
        kill_group(self.leader, signal);
    }

    /// Kills all processes of the owner.
    pub(crate) fn kill(&self) {
        self.signal_group(Signal::KILL);
        let mut found: Vec<Process> = Vec::new();
        for _ in 0..ROUNDS {
            let table = proc::all();
            let fresh: Vec<Process> = self
                .members(&table)
                .into_iter()
                .filter(|process| !found.contains(process))
                .collect();
            if fresh.is_empty() {
                break;
            }
            for process in &fresh {
                proc::send(process, Signal::STOP);
            }
            found.extend(fresh);
        }
        for process in &found {
            proc::send(process, Signal::KILL);
        }
        orphans::reap();
    }

    /// Lets the remaining processes keep running.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }

    /// Returns the live processes of the owner.
    fn members(&self, table: &[Process]) -> Vec<Process> {
        let leader = i32::try_from(self.leader).unwrap_or_default();
        let registry = orphans::registry();
        let is_own = |process: &Process| {
            process.group == leader
                || proc::variable(process.pid, VARIABLE).as_ref() == Some(&self.marker)
                || registry.is_stray_of(process, &self.marker)
        };
        let alive = table.iter().filter(|process| !process.is_zombie);
        let roots: Vec<i32> = alive
            .clone()
            .filter(|process| leader != 0 && process.began >= self.began && is_own(process))
            .map(|process| process.pid)
            .collect();
        let members = with_descendants(table, roots);
        alive
            .filter(|process| members.contains(&process.pid))
            .copied()
            .collect()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if !self.released.load(Ordering::SeqCst) {
            self.kill();
        }
        let released = self.released.load(Ordering::SeqCst);
        orphans::registry().remove(&self.marker, released);
    }
}

/// Returns the processes `roots` and all their descendants, except deft itself.
pub(super) fn with_descendants(table: &[Process], roots: Vec<i32>) -> HashSet<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let mut members: HashSet<i32> = roots.into_iter().filter(|pid| *pid != own).collect();
    loop {
        let children = table.iter().filter(|process| {
            members.contains(&process.parent)
                && process.pid != own
                && !members.contains(&process.pid)
        });
        let children: Vec<i32> = children.map(|process| process.pid).collect();
        if children.is_empty() {
            return members;
        }
        members.extend(children);
    }
}

/// Returns an unguessable value. The hasher of the standard library is seeded by the system.
fn random() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}
