//! The worker: a process that loads an interpreter once and forks a child per session.
//!
//! [`worker_main`] is the zygote. It runs no code of skills; its children do, behind the limits and filters
//! of [`sandbox`]. The client enforces time limits and closes a lifeline when one expires.

mod child;
mod engine;
mod python;
mod sandbox;
mod zygote;

use std::process::ExitCode;

pub use engine::module_names;

/// Runs the worker until the client closes the control socket, which is standard input.
///
/// The binary must call it as its hidden sub-command before it starts any thread: a fork copies only the
/// calling thread.
pub fn worker_main() -> ExitCode {
    match zygote::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The client reads stderr and includes it in its error.
            let words = format!("{error}\n");
            let _ = rustix::io::write(rustix::stdio::stderr(), words.as_bytes());
            ExitCode::FAILURE
        }
    }
}
