//! Child processes of servers and of `shell.run`: started in a group of their own, and ended with
//! everything that they start (`owner.rs`).
//!
//! Not here: which programs may be started.

mod heir;
mod orphans;
mod owner;
mod proc;

use std::ffi::OsStr;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use crate::environment::Environment;
use heir::Bequest;

pub(crate) use owner::Owner;

/// A command in its own process group with nothing but the usual variables.
pub(crate) fn minimal_command(program: impl AsRef<OsStr>, environment: &Environment) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(environment.inherited.iter().cloned())
        .process_group(0)
        .kill_on_drop(true);
    command
}

/// Ends a whole process group; one that is gone already is fine, and so is none.
fn kill_group(leader: u32, signal: Signal) {
    let pid = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        kill_process_group(pid, signal).ok();
    }
}
