//! What a caller says: the job, its limits, how the worker is started; and what it gets back.
//!
//! Plain data; nothing here starts a process or looks at a clock.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use deft_model::Object;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How the worker is started, and what its children may use.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program to start, usually our own.
    pub program: PathBuf,
    /// The arguments that make it the worker.
    pub args: Vec<OsString>,
    /// What a job may use.
    pub limits: Limits,
}

/// What a job may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// How long a job may take, unless it says otherwise.
    pub time: Duration,
    /// How much memory a session may take beyond what the interpreter itself has.
    pub memory_bytes: u64,
    /// How long the value may be as JSON.
    pub output_bytes: usize,
    /// How many children may live at once; sessions beyond that wait in line.
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

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Statements; the value is what they leave in `result`, or null.
    Block,
    /// One expression; the value is its truth.
    Condition,
    /// One expression; the value is its value.
    Expression,
}

/// A piece of Python and everything it can see.
#[derive(Debug, Clone)]
pub struct Job {
    /// The source text.
    pub code: String,
    /// What it is.
    pub kind: Kind,
    /// The names that the code sees. Mappings in it can be read as attributes too.
    pub scope: Object,
    /// What every clock shows: the recorded start of the step.
    pub now: Timestamp,
    /// The zone of local time, as an IANA name or an offset such as `+02:00`.
    pub zone: String,
    /// Where `random` and `uuid4` start.
    pub seed: u64,
}

impl Job {
    /// A job at the epoch in UTC, with seed 0.
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

/// What a job gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The value.
    pub value: Value,
    /// What it printed, cut at 16 KiB.
    pub printed: String,
}

/// What holds a child of the worker back, beside limits on its resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Isolation {
    /// The kernel lets it make only the few system calls that an interpreter needs.
    pub seccomp: bool,
    /// The kernel shows it no file.
    pub landlock: bool,
    /// It can never gain a privilege.
    pub no_new_privileges: bool,
}
