//! Reads processes from `/proc`. Systems without `/proc` report no processes.
//!
//! Not here: which processes to kill (`owner.rs`).

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal};

/// A process at the time of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    /// When it began, in ticks since the system booted. Process ids are reused; the pair of id and
    /// start time is unique.
    pub(super) began: u64,
    /// Whether it has ended but was not reaped yet.
    pub(super) is_zombie: bool,
}

/// Returns all processes.
pub(super) fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(one).collect()
}

/// Returns the process with this id.
pub(super) fn one(pid: i32) -> Option<Process> {
    parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

fn parse(stat: &str) -> Option<Process> {
    let pid = stat.split_whitespace().next()?.parse().ok()?;
    // The program's name may contain any character, including brackets.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        began: fields.get(19)?.parse().ok()?,
        is_zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

/// Returns the children of this process.
pub(super) fn children() -> Vec<Process> {
    listed_children().unwrap_or_else(|| {
        let own = i32::try_from(std::process::id()).unwrap_or_default();
        let mut table = all();
        table.retain(|process| process.parent == own);
        table
    })
}

/// Reads the children from the lists that most kernels keep, which is cheaper than reading all
/// processes. `None` if the kernel has no lists.
fn listed_children() -> Option<Vec<Process>> {
    let mut ids: Vec<i32> = Vec::new();
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => ids.extend(
                list.split_whitespace()
                    .filter_map(|id| id.parse::<i32>().ok()),
            ),
            // The thread may have ended in the meantime; a missing list of a live thread means that the
            // kernel keeps none.
            Err(_) if thread.path().exists() => return None,
            Err(_) => {}
        }
    }
    Some(ids.into_iter().filter_map(one).collect())
}

/// Returns the value of an environment variable that a process was started with.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    let variables = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = variables.split(|byte| *byte == 0);
    let value =
        entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// Whether a process runs the same executable as this one.
pub(super) fn is_this_program(pid: i32) -> bool {
    let file = |path: &str| fs::read_link(Path::new(path)).ok();
    let own = file("/proc/self/exe");
    own.is_some() && own == file(&format!("/proc/{pid}/exe"))
}

/// Sends a signal to exactly this process, never to a later one with the same id.
#[cfg(target_os = "linux")]
pub(super) fn send(process: &Process, signal: Signal) {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(pid) = Pid::from_raw(process.pid) else {
        return;
    };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    // The handle refers to the process that had the id when it was opened.
    if one(process.pid).is_some_and(|now| now.began == process.began) {
        pidfd_send_signal(&handle, signal).ok();
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn send(process: &Process, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.pid) {
        rustix::process::kill_process(pid, signal).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse() {
        let stat = "42 (a) b (c)) Z 7 40 40 0 -1 4 0 0 0 0 0 0 0 0 20 0 1 0 12345 0 0";
        let expected = Process {
            pid: 42,
            parent: 7,
            group: 40,
            began: 12_345,
            is_zombie: true,
        };
        assert_eq!(parse(stat), Some(expected));
        assert_eq!(parse("42 (cut"), None);
    }
}
