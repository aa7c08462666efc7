//! The threads that requests run on.

use deft_wire::{Done, Failure};
use tokio::runtime::Runtime;

/// Starts the threads.
pub fn start() -> Done<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build();
    runtime.map_err(|error| Failure::internal("runtime", format!("cannot start threads: {error}")))
}
