//! Somebody who ends our children should we be killed without a word.
//!
//! A process that is killed with `kill -9` can end nothing any more, and a
//! signal on the death of a parent needs `unsafe`, follows the thread that
//! started the child rather than the process, and does not reach
//! grandchildren. So one small shell reads the process groups that are alive
//! from a pipe. The pipe ends when we do, however we end; then it ends what is
//! left of them.
//!
//! Not here: the ordinary end of children (`process.rs` and its users).

use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::router::lock;

/// `+ID` names a group, `-ID` forgets it. Signals that end a whole session leave it alone.
const SCRIPT: &str = r#"
trap '' HUP INT TERM QUIT
groups=' '
while read -r line; do
  id=${line#?}
  case $groups in
    *" $id "*) groups="${groups%%" $id "*} ${groups#*" $id "}" ;;
  esac
  case $line in +*) groups="$groups$id " ;; esac
done
for id in $groups; do kill -s KILL -- "-$id"; done
"#;

/// The shell that outlives us, once there is one.
#[derive(Default)]
struct Heir {
    stdin: Option<ChildStdin>,
}

impl Heir {
    fn tell(&mut self, line: &str) {
        if self.stdin.is_none() {
            self.stdin = start();
        }
        let Some(stdin) = &mut self.stdin else {
            return;
        };
        // A shell that is gone or stuck must not hold up anybody; the next child gets another one.
        if stdin.write_all(line.as_bytes()).is_err() {
            self.stdin = None;
        }
    }
}

fn start() -> Option<ChildStdin> {
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
    let stdin = started.ok()?.stdin?;
    let flags = fcntl_getfl(&stdin).ok()?;
    fcntl_setfl(&stdin, flags | OFlags::NONBLOCK).ok()?;
    Some(stdin)
}

/// The heir of this process.
fn ours() -> &'static Arc<Mutex<Heir>> {
    static OURS: OnceLock<Arc<Mutex<Heir>>> = OnceLock::new();
    OURS.get_or_init(Arc::default)
}

/// A process group that ends with this process, whatever happens to it. Dropping it says that the
/// group is gone, or may stay.
pub(crate) struct Bequest {
    group: u32,
    heir: Arc<Mutex<Heir>>,
}

impl Bequest {
    /// Names the group of a child that was just started; none for a child that has no id.
    pub(crate) fn new(group: u32) -> Option<Self> {
        Self::to(ours(), group)
    }

    fn to(heir: &Arc<Mutex<Heir>>, group: u32) -> Option<Self> {
        if group == 0 {
            return None;
        }
        lock(heir).tell(&format!("+{group}\n"));
        let heir = heir.clone();
        Some(Self { group, heir })
    }
}

impl Drop for Bequest {
    fn drop(&mut self) {
        lock(&self.heir).tell(&format!("-{}\n", self.group));
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
            .map(|child| Bequest::to(&heir, child.id()).unwrap())
            .collect();
        for (place, bequest) in bequests.into_iter().enumerate() {
            if place % 2 == 0 {
                drop(bequest);
            } else {
                // As it is when a process is killed: nobody drops anything.
                std::mem::forget(bequest);
            }
        }
        // The end of the pipe, as the kernel makes it when a process is gone.
        lock(&heir).stdin.take();
        for place in [1, 3] {
            assert_eq!(children[place].wait().unwrap().signal(), Some(9));
            let mut output = children[place].stdout.take().unwrap();
            // Ends when nobody has it any more, the grandchild included.
            std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        }
        for place in [0, 2] {
            assert_eq!(children[place].try_wait().unwrap(), None);
            super::super::kill_group(children[place].id(), rustix::process::Signal::KILL);
            children[place].wait().unwrap();
        }
    }
}
