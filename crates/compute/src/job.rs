//! Jobs, their limits, the options of the worker, and the results of jobs.
//!
//! Plain data. Not here: processes and clocks.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use deft_model::Object;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How to start the worker, and the limits of its children.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program to start, usually our own binary.
    pub program: PathBuf,
    /// The arguments that make it act as the worker.
    pub args: Vec<OsString>,
    /// The limits of a job.
    pub limits: Limits,
}

/// The resources that a job may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Default time limit of a job.
    pub time: Duration,
    /// Memory that a session may use in addition to the loaded interpreter, in bytes.
    pub memory_bytes: u64,
    /// Maximum size of the value as JSON, in bytes.
    pub output_bytes: usize,
    /// Maximum number of children at once; other sessions wait.
    pub children: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(5),
            memory_bytes: 256 << 20,
            output_bytes: 1 << 20,
            children: 64,
        }
    }
}

/// The kind of a piece of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Statements; the value is the content of `result`, or null.
    Block,
    /// One expression; the value is its truth.
    Condition,
    /// One expression; the value is its value.
    Expression,
}

/// Python code and everything that it can read.
#[derive(Debug, Clone)]
pub struct Job {
    /// The source text.
    pub code: String,
    /// Its kind.
    pub kind: Kind,
    /// The names that the code can read. Mappings in it can be read as attributes too.
    pub scope: Object,
    /// The time that all clocks show: the recorded start of the step.
    pub now: Timestamp,
    /// The time zone of local time, as an IANA name or an offset such as `+02:00`.
    pub zone: String,
    /// The seed of `random` and `uuid4`.
    pub seed: u64,
}

impl Job {
    /// Creates a job at the epoch in UTC, with seed 0.
    pub fn new(kind: Kind, code: impl Into<String>, scope: Object) -> Job {
        Job {
            code: code.into(),
            kind,
            scope,
            now: Timestamp::UNIX_EPOCH,
            zone: "UTC".to_owned(),
            seed: 0,
        }
    }
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The value.
    pub value: Value,
    /// The printed text, truncated to 16 KiB.
    pub printed: String,
}

/// The isolation of a worker's child, besides resource limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Isolation {
    /// Whether seccomp limits it to the few system calls that an interpreter needs.
    pub seccomp: bool,
    /// Whether landlock denies it all access to files.
    pub landlock: bool,
    /// Whether it cannot gain privileges.
    pub no_new_privileges: bool,
}
