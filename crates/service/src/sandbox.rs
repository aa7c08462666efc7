//! The sandbox of compute blocks: its program, its limits, and the socket of a daemon's sandbox.

use std::path::{Path, PathBuf};

use deft_config::Config;
use deft_wire::{Done, Failure};

/// The hidden subcommand that runs this program as the sandbox.
pub const WORKER: &str = "compute-worker";

/// Returns the maximum number of concurrent runs. 0 in the configuration becomes a number that no machine
/// reaches.
pub fn max_running(config: &Config) -> usize {
    match config.engine.max_running.unwrap_or(64) {
        0 => usize::MAX >> 4,
        most => most as usize,
    }
}

/// Returns the path of the socket through which commands use the sandbox of a running daemon.
pub(crate) fn shared_socket_path(home: &Path) -> PathBuf {
    home.join("data").join("compute")
}

/// Returns the options of the sandbox, which is this program, started again.
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
