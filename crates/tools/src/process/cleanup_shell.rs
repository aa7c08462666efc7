//! A shell that kills deft's child processes if deft itself is killed.
//!
//! A process killed with `kill -9` cannot clean up, and a parent-death signal needs `unsafe`, depends
//! on the thread that started the child rather than the process, and does not reach grandchildren.
//! Therefore one small shell reads the live process groups from a pipe. The pipe is closed when deft
//! ends, for any reason; the shell then kills the remaining groups, and processes that have left their
//! group but still have its variable (`owner.rs`).
//!
//! Not here: the normal end of child processes (`owner.rs`).

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::proc::Process;

/// `+ID` adds something to kill, `-ID` removes it. An ID is `GROUP:MARKER` for a process group and all
/// processes with that variable, or `pPID.BEGAN` for one process. The shell ignores signals that end a
/// whole session.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT
ids=' '
while read -r line; do
  id=${line#?}
  case $ids in
    *" $id "*) ids="${ids%%" $id "*} ${ids#*" $id "}" ;;
  esac
  case $line in +*) ids="$ids$id " ;; esac
done
for id in $ids; do
  case $id in
    p*)
      pid=${id#p}; began=${pid#*.}; pid=${pid%%.*}
      if read -r stat < "/proc/$pid/stat"; then
        set -- ${stat##*) }
        if [ "${20}" = "$began" ]; then kill -s KILL "$pid"; fi
      fi ;;
    *) kill -s KILL -- "-${id%%:*}" ;;
  esac
done
for id in $ids; do
  case $id in p*) continue ;; esac
  round=0
  while [ $round -lt 20 ]; do
    found=$(grep -lsF "DEFT_OWNER=${id#*:}" /proc/[0-9]*/environ)
    if [ -z "$found" ]; then break; fi
    for file in $found; do
      pid=${file#/proc/}
      kill -s KILL "${pid%/environ}"
    done
    round=$((round + 1))
  done
done
"#;

/// The connection to the shell that outlives deft, once it is started.
#[derive(Debug, Default)]
struct CleanupShell {
    stdin: Option<ChildStdin>,
    pid: u32,
}

impl CleanupShell {
    fn tell(&mut self, line: &str) {
        if self.stdin.is_none() {
            let started = start();
            self.pid = started.as_ref().map_or(0, |(pid, _)| *pid);
            self.stdin = started.map(|(_, stdin)| stdin);
        }
        let Some(stdin) = &mut self.stdin else {
            return;
        };
        // A shell that died or hangs must not block a caller; the next child starts another one.
        if stdin.write_all(line.as_bytes()).is_err() {
            self.stdin = None;
        }
    }
}

fn start() -> Option<(u32, ChildStdin)> {
    use std::os::unix::process::CommandExt;
    let started = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .env_clear()
        .current_dir("/")
        // In its own group, so that a signal to deft's group does not kill it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let started = started.ok()?;
    let pid = started.id();
    let stdin = started.stdin?;
    let flags = fcntl_getfl(&stdin).ok()?;
    fcntl_setfl(&stdin, flags | OFlags::NONBLOCK).ok()?;
    Some((pid, stdin))
}

/// Returns the cleanup shell of this process.
fn ours() -> &'static Arc<Mutex<CleanupShell>> {
    static SHELL: OnceLock<Arc<Mutex<CleanupShell>>> = OnceLock::new();
    SHELL.get_or_init(Arc::default)
}

/// Whether a process is the cleanup shell, which is never an orphan.
pub(super) fn is_cleanup_shell(pid: u32) -> bool {
    ours().lock().pid == pid
}

/// Processes that are killed when deft ends for any reason. Dropping it unregisters them: they have
/// ended, or may keep running.
#[derive(Debug)]
pub(super) struct CleanupEntry {
    id: Option<String>,
    shell: Arc<Mutex<CleanupShell>>,
}

impl CleanupEntry {
    /// Registers the group of a child that was just started, and all processes with its variable;
    /// registers nothing if `group` is 0.
    pub(super) fn new(group: u32, marker: &str) -> Self {
        Self::new_entry(ours(), (group != 0).then(|| format!("{group}:{marker}")))
    }

    /// Registers one process.
    pub(super) fn of_process(process: &Process) -> Self {
        Self::new_entry(ours(), Some(format!("p{}.{}", process.pid, process.began)))
    }

    fn new_entry(shell: &Arc<Mutex<CleanupShell>>, id: Option<String>) -> Self {
        if let Some(id) = &id {
            shell.lock().tell(&format!("+{id}\n"));
        }
        let shell = shell.clone();
        Self { id, shell }
    }
}

impl Drop for CleanupEntry {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.shell.lock().tell(&format!("-{id}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Child;

    use super::*;

    fn sleeper() -> Child {
        // Has a grandchild that would keep its stdout pipe open.
        Command::new("/bin/sh")
            .args(["-c", "sleep 1000 & wait"])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    #[test]
    fn only_remaining_processes_end_with_the_pipe() {
        let shell: Arc<Mutex<CleanupShell>> = Arc::default();
        let mut children: Vec<Child> = (0..4).map(|_| sleeper()).collect();
        let bequests: Vec<_> = children
            .iter()
            .map(|child| CleanupEntry::new_entry(&shell, Some(format!("{}:none", child.id()))))
            .collect();
        for (place, bequest) in bequests.into_iter().enumerate() {
            if place % 2 == 0 {
                drop(bequest);
            } else {
                // Nothing is dropped when a process is killed.
                std::mem::forget(bequest);
            }
        }
        // Closes the pipe, as the kernel does when the process ends.
        shell.lock().stdin.take();
        for place in [1, 3] {
            assert_eq!(children[place].wait().unwrap().signal(), Some(9));
            let mut output = children[place].stdout.take().unwrap();
            // Returns only when no process has the pipe open, including the grandchild.
            std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        }
        for place in [0, 2] {
            assert_eq!(children[place].try_wait().unwrap(), None);
            super::super::kill_group(children[place].id(), rustix::process::Signal::KILL);
            children[place].wait().unwrap();
        }
    }
}
