//! Child processes of servers and of `shell.run`: each starts in its own process group, and is killed
//! with all its descendants (`owner.rs`).
//!
//! Not here: which programs may be started.

mod cleanup_shell;
mod orphans;
mod owner;
mod proc;

use std::ffi::OsStr;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use crate::environment::Environment;
use cleanup_shell::CleanupEntry;

pub(crate) use owner::Owner;

/// Returns a command in its own process group, with only the usual variables.
pub(crate) fn minimal_command(program: impl AsRef<OsStr>, environment: &Environment) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(environment.inherited.iter().cloned())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Sends a signal to a whole process group. Ignores a group that has already ended, and 0.
fn kill_group(leader: u32, signal: Signal) {
    let pid = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        kill_process_group(pid, signal).ok();
    }
}
