//! The processes that belong to a server or to a call of `shell.run`, wherever
//! they have gone.
//!
//! A process can leave its group (`setsid`) and its parent (a double fork). So
//! every program is started with a variable of random value, which its
//! descendants inherit, and deft is the parent of descendants whose own parent
//! has ended (`orphans.rs`), also of those that removed the variable. Ending an
//! owner stops all of them first, so that none can start another one meanwhile.
//!
//! Not here: the end of deft itself (`heir.rs`). A process that makes another
//! service start something (`systemd-run`, `at`, cron) leaves for good; only a
//! sandbox could prevent that.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;
use tokio::process::{Child, Command};

use super::orphans;
use super::proc::{self, Process};
use super::{Bequest, kill_group};

/// The variable that descendants inherit.
pub(super) const VARIABLE: &str = "DEFT_OWNER";

/// How often the table of processes is read again for new ones before what was found is killed.
const ROUNDS: usize = 20;

/// The owner of a program and of everything that it starts.
#[derive(Debug)]
pub(crate) struct Owner {
    marker: String,
    leader: u32,
    /// When the program began, in ticks since the start of the system.
    began: u64,
    released: AtomicBool,
    /// Ends the processes also when deft cannot.
    _bequest: Bequest,
}

impl Owner {
    /// Starts the program of a new owner. Its command leads a process group of its own.
    pub(crate) fn start(command: &mut Command) -> io::Result<(Self, Child)> {
        let marker = random();
        command.env(VARIABLE, &marker);
        // Held over the start: no other thread may reap the new child.
        let mut registry = orphans::registry();
        let child = command.spawn()?;
        let leader = child.id().unwrap_or_default();
        let began = registry.add(&marker, leader);
        drop(registry);
        let bequest = Bequest::new(leader, &marker);
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

    /// Sends a signal to the process group of the program.
    pub(crate) fn signal_group(&self, signal: Signal) {
        kill_group(self.leader, signal);
    }

    /// Ends everything that belongs to the owner.
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

    /// Lets go of everything that the program has left running.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
    }

    /// The living processes of the owner.
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

/// These processes, their children, and so on. Never deft itself.
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

/// An unguessable value. The hasher of the standard library has keys from the system.
fn random() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}
