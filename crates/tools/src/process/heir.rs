//! A shell that ends the child processes of deft if deft is killed.
//!
//! A process that is killed with `kill -9` can end nothing any more, and a
//! signal on the death of a parent needs `unsafe`, follows the thread that
//! started the child rather than the process, and does not reach
//! grandchildren. So one small shell reads the process groups that are alive
//! from a pipe. The pipe ends when we do, however we end; then it ends what is
//! left of them, and processes that have left their group and still have its
//! variable (`owner.rs`).
//!
//! Not here: the ordinary end of children (`owner.rs`).

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::proc::Process;

/// `+ID` names something to end, `-ID` forgets it. An ID is `GROUP:MARKER` for a process group and
/// all processes with that variable, or `pPID.BEGAN` for one process. Signals that end a whole
/// session leave the shell alone.
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

/// The shell that outlives us, once there is one.
#[derive(Debug, Default)]
struct Heir {
    stdin: Option<ChildStdin>,
    pid: u32,
}

impl Heir {
    fn tell(&mut self, line: &str) {
        if self.stdin.is_none() {
            let started = start();
            self.pid = started.as_ref().map_or(0, |(pid, _)| *pid);
            self.stdin = started.map(|(_, stdin)| stdin);
        }
        let Some(stdin) = &mut self.stdin else {
            return;
        };
        // A shell that is gone or stuck must not block a caller; the next child gets another one.
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
        // Its own group: what ends ours must not end it.
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

/// The heir of this process.
fn ours() -> &'static Arc<Mutex<Heir>> {
    static OURS: OnceLock<Arc<Mutex<Heir>>> = OnceLock::new();
    OURS.get_or_init(Arc::default)
}

/// Whether a process is the heir, which is never an orphan.
pub(super) fn is_heir(pid: u32) -> bool {
    ours().lock().pid == pid
}

/// Processes that end with this process, whatever happens to it. Dropping it says that they are
/// gone, or may stay.
#[derive(Debug)]
pub(super) struct Bequest {
    id: Option<String>,
    heir: Arc<Mutex<Heir>>,
}

impl Bequest {
    /// Names the group of a child that was just started, and everything with its variable; nothing
    /// for a child that has no number.
    pub(super) fn new(group: u32, marker: &str) -> Self {
        Self::to(ours(), (group != 0).then(|| format!("{group}:{marker}")))
    }

    /// Names one process.
    pub(super) fn of_process(process: &Process) -> Self {
        Self::to(ours(), Some(format!("p{}.{}", process.pid, process.began)))
    }

    fn to(heir: &Arc<Mutex<Heir>>, id: Option<String>) -> Self {
        if let Some(id) = &id {
            heir.lock().tell(&format!("+{id}\n"));
        }
        let heir = heir.clone();
        Self { id, heir }
    }
}

impl Drop for Bequest {
    fn drop(&mut self) {
        if let Some(id) = &self.id {
            self.heir.lock().tell(&format!("-{id}\n"));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Child;

    use super::*;

    fn sleeper() -> Child {
        // A grandchild that would keep the pipe of its output open.
        Command::new("/bin/sh")
            .args(["-c", "sleep 1000 & wait"])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    #[test]
    fn what_is_left_ends_with_the_pipe_and_nothing_else() {
        let heir: Arc<Mutex<Heir>> = Arc::default();
        let mut children: Vec<Child> = (0..4).map(|_| sleeper()).collect();
        let bequests: Vec<_> = children
            .iter()
            .map(|child| Bequest::to(&heir, Some(format!("{}:none", child.id()))))
            .collect();
        for (place, bequest) in bequests.into_iter().enumerate() {
            if place % 2 == 0 {
                drop(bequest);
            } else {
                // As when a process is killed: nothing is dropped.
                std::mem::forget(bequest);
            }
        }
        // The end of the pipe, as the kernel makes it when a process is gone.
        heir.lock().stdin.take();
        for place in [1, 3] {
            assert_eq!(children[place].wait().unwrap().signal(), Some(9));
            let mut output = children[place].stdout.take().unwrap();
            // Ends when no process holds it any more, the grandchild included.
            std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        }
        for place in [0, 2] {
            assert_eq!(children[place].try_wait().unwrap(), None);
            super::super::kill_group(children[place].id(), rustix::process::Signal::KILL);
            children[place].wait().unwrap();
        }
    }
}
