//! The sandbox of compute blocks: which program it is, how many there are, and where a daemon lends its own.

use std::path::{Path, PathBuf};

use deft_config::Config;
use deft_wire::{Done, Failure};

/// The hidden command that makes this program the sandbox.
pub const WORKER: &str = "compute-worker";

/// How many runs may go on at once. Zero is no limit: more than any machine could do.
pub fn max_running(config: &Config) -> usize {
    match config.engine.max_running.unwrap_or(64) {
        0 => usize::MAX >> 4,
        most => most as usize,
    }
}

/// Where a daemon lends its sandbox to commands that are started beside it.
pub(crate) fn lent_at(home: &Path) -> PathBuf {
    home.join("data").join("compute")
}

/// The sandbox is this very program, started again.
pub fn worker(config: &Config) -> Done<deft_compute::Options> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::internal("worker", format!("cannot find deft itself: {error}"))
    })?;
    Ok(deft_compute::Options {
        program,
        args: vec![WORKER.into()],
        limits: deft_compute::Limits {
            children: max_running(config),
            ..deft_compute::Limits::default()
        },
    })
}
