//! Execution of Python blocks in a sandboxed child process.
//!
//! [`Compute`] starts a worker (a re-execution of our own binary), which loads a Python interpreter once and
//! forks one child per [`Session`]. A session belongs to one run: its code cannot affect other sessions.
//! Time, memory and output are limited. The current time and the random seed are arguments, so the same
//! [`Job`] gives the same value.
//!
//! This crate has no notion of skills, steps or templates, stores no values between jobs, and never runs
//! Python in the calling process. The client is light; the interpreter is linked only with the feature
//! `worker`, which the re-executed binary enables.

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
