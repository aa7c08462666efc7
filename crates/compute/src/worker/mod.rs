//! The heavy half: a process that loads an interpreter once and forks a child per session.
//!
//! [`worker_main`] is the zygote. It runs no code of skills; its children do, behind the limits
//! and filters of [`sandbox`]. Time is kept by the client, which closes a lifeline when it is up.

mod child;
mod engine;
mod python;
mod sandbox;
mod zygote;

use std::process::ExitCode;

pub use engine::module_names;

/// Serves as the worker until the client closes the control socket, which is standard input.
///
/// The binary calls it as its hidden sub-command, before it starts any thread: a fork copies only the
/// one that calls it.
pub fn worker_main() -> ExitCode {
    match zygote::serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error leads to the client, which repeats it.
            let words = format!("{error}\n");
            let _ = rustix::io::write(rustix::stdio::stderr(), words.as_bytes());
            ExitCode::FAILURE
        }
    }
}
