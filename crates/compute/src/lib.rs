//! Python blocks, evaluated in a sandboxed child process.
//!
//! [`Compute`] starts a worker, a re-execution of our own binary, which loads a Python interpreter
//! once and forks one child per [`Session`]. A session belongs to one run: nothing that its code does
//! is seen by another session. Time, memory and output are limited, "now" and "random" are arguments,
//! so the same [`Job`] gives the same value.
//!
//! This crate does not know skills, steps or templates, keeps no values between jobs, and never runs
//! Python in the process that calls it. The client half is light; the interpreter is linked only with
//! the feature `worker`, which the binary that is re-executed turns on.

mod client;
mod error;
mod job;
mod wire;
#[cfg(feature = "worker")]
mod worker;

pub use client::{Compute, Session};
pub use error::Error;
pub use job::{Isolation, Job, Kind, Limits, Options, Output};
#[cfg(feature = "worker")]
pub use worker::{module_names, worker_main};
