//! While a daemon is running, a command runs its Python in the daemon's warm sandbox.

use std::process::Stdio;

use crate::daemon::{Daemon, wait_for};
use crate::support::World;

const SPIN: &str = "\
name: spin
description: Runs until its time is up
steps:
  - id: one
    compute: |
      while True:
          pass
";

#[test]
fn a_run_uses_the_sandbox_of_the_daemon() {
    let world = World::new();
    world.write("home/skills/spin.yaml", SPIN);
    let daemon = Daemon::start(&world);
    wait_for("a socket", || {
        world.path("home/data/compute").exists().then_some(())
    });
    let mut run = world
        .command(&["run", "spin"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The worker is a child of the daemon, and the process that runs the block is a child of the worker.
    wait_for("a block in the daemon's sandbox", || {
        children(daemon.id())
            .into_iter()
            .find(|worker| !children(*worker).is_empty())
    });
    assert_eq!(children(run.id()), Vec::<u32>::new());
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("no block in the daemon's sandbox", || {
        let mut workers = children(daemon.id()).into_iter();
        workers
            .all(|worker| children(worker).is_empty())
            .then_some(())
    });
    daemon.stop();
}

/// Returns the child processes of all threads of a process.
fn children(parent: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{parent}/task")) else {
        return Vec::new();
    };
    threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|ids| {
            ids.split_whitespace()
                .map(|id| id.parse().unwrap())
                .collect::<Vec<u32>>()
        })
        .collect()
}
