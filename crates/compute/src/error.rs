//! Errors of jobs, in words that a person can act on.

use std::time::Duration;

use deft_model::FailureClass;

use crate::wire::{ChildExit, Fault};

/// Why a job gave no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The code raised an exception.
    #[error("{}", python(kind, message, *line))]
    Python {
        /// The type of the exception.
        kind: String,
        /// The message of the exception.
        message: String,
        /// The last line of the code in the traceback, from 1.
        line: Option<u32>,
        /// The lines and functions of the traceback, one per line, outermost first.
        trace: String,
    },
    /// The code is not valid Python.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// The message of the parser.
        message: String,
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    },
    /// The code exceeded its time limit and was stopped.
    #[error("the code took longer than {} and was stopped", seconds(*after))]
    Timeout {
        /// The time limit.
        after: Duration,
    },
    /// The code exceeded its memory limit.
    #[error("the code needs more than {} of memory", bytes_of(*limit))]
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The code ended its interpreter.
    #[error("the code crashed its interpreter: {}", death(*signal, *status))]
    Died {
        /// The signal that ended it.
        signal: Option<i32>,
        /// Or its exit status.
        status: Option<i32>,
    },
    /// The value is too large.
    #[error("the value is {} or more as JSON, the limit is {}", bytes_of(*bytes as u64), bytes_of(*limit as u64))]
    TooLarge {
        /// Bytes written when the limit was exceeded.
        bytes: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// No worker could run the job.
    #[error("the compute worker is not available: {why}")]
    Unavailable {
        /// The reason.
        why: String,
    },
}

impl Error {
    /// Returns what a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::Python { kind, .. } => exception_hint(kind),
            Error::Syntax { .. } => None,
            Error::Timeout { .. } => {
                Some("look for a loop that does not end, or give the step a longer `timeout`")
            }
            Error::Memory { .. } => Some("process the data in parts, or use a tool"),
            Error::Died { .. } => Some("look for endless recursion or nesting"),
            Error::TooLarge { .. } => Some(
                "store only the values that later steps read in \
                 `result`",
            ),
            Error::Unavailable { .. } => Some("`deft doctor` shows whether the worker starts"),
        }
    }

    /// Whether the code read a member of None. Python reports this only in the text of the exception.
    pub fn is_about_none(&self) -> bool {
        match self {
            Error::Python { kind, message, .. } => {
                matches!(kind.as_str(), "AttributeError" | "TypeError")
                    && message.contains("NoneType")
            }
            Error::Syntax { .. }
            | Error::Timeout { .. }
            | Error::Memory { .. }
            | Error::Died { .. }
            | Error::TooLarge { .. }
            | Error::Unavailable { .. } => false,
        }
    }

    /// Returns the failure class, which policies use.
    pub fn class(&self) -> FailureClass {
        match self {
            Error::Python { .. } | Error::Died { .. } | Error::Unavailable { .. } => {
                FailureClass::Other
            }
            Error::Syntax { .. } => FailureClass::Invalid,
            Error::Timeout { .. } => FailureClass::Timeout,
            Error::Memory { .. } | Error::TooLarge { .. } => FailureClass::Limit,
        }
    }

    pub(crate) fn unavailable(why: impl Into<String>) -> Error {
        Error::Unavailable { why: why.into() }
    }

    pub(crate) fn from_fault(fault: Fault, memory: u64, output: usize) -> Error {
        match fault {
            Fault::Python {
                kind,
                message,
                line,
                trace,
            } => Error::Python {
                kind,
                message,
                line,
                trace,
            },
            Fault::Syntax {
                message,
                line,
                column,
            } => Error::Syntax {
                message,
                line,
                column,
            },
            Fault::Memory => Error::Memory { limit: memory },
            Fault::TooLarge { bytes } => Error::TooLarge {
                bytes,
                limit: output,
            },
            Fault::Refused { why } => Error::Unavailable { why },
            Fault::Unloaded { module } => {
                Error::unavailable(format!("it cannot load the module `{module}`"))
            }
        }
    }

    /// Converts the worker's report of a child's end. The runtime reports exhausted memory only on stderr.
    pub(crate) fn from_end(ended: &ChildExit, memory: u64, time: Duration) -> Error {
        if ended.words.contains("memory allocation of") || ended.words.contains("out of memory") {
            return Error::Memory { limit: memory };
        }
        if ended.signal == Some(SIGXCPU) {
            return Error::Timeout { after: time };
        }
        Error::Died {
            signal: ended.signal,
            status: ended.status,
        }
    }
}

/// The signal that ends a process after its processor time is used up; 24 on all architectures of Linux.
const SIGXCPU: i32 = 24;

/// The exit status of a process that panicked.
const PANICKED: i32 = 101;

fn exception_hint(kind: &str) -> Option<&'static str> {
    match kind {
        "NameError" => Some("a name comes from inputs, earlier outputs or the block itself"),
        "AttributeError" | "KeyError" => {
            Some("use `.get('key')` where a key may be missing, or check it in a condition")
        }
        _ => None,
    }
}

fn python(kind: &str, message: &str, line: Option<u32>) -> String {
    let at = line
        .map(|line| format!("line {line}: "))
        .unwrap_or_default();
    match message {
        "" => format!("{at}{kind}"),
        _ => format!("{at}{kind}: {message}"),
    }
}

fn death(signal: Option<i32>, status: Option<i32>) -> String {
    match (signal, status) {
        (Some(11), _) => "stack overflow or invalid memory access (signal 11)".to_owned(),
        (Some(6), _) => "it aborted (signal 6)".to_owned(),
        (Some(9), _) => "it was killed (signal 9)".to_owned(),
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(PANICKED)) => "a fault in the interpreter (status 101)".to_owned(),
        (None, Some(status)) => format!("status {status}"),
        (None, None) => "unknown reason".to_owned(),
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

fn bytes_of(bytes: u64) -> String {
    const UNITS: [(u64, &str); 2] = [(1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(size, _)| bytes >= *size) {
        Some((size, unit)) => format!("{} {unit}", bytes / size),
        None => format!("{bytes} bytes"),
    }
}
