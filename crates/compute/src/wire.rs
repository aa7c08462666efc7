//! The protocol between client and worker.
//!
//! It uses three channels. On the control socket, the client requests children and passes the other two. The
//! data socket of a child carries requests and replies, each with a four-byte length before its JSON. On the
//! lifeline of a child, the worker reports once how the child ended; closing it ends the child. Not here:
//! reading and writing channels.

use deft_model::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::{Isolation, Kind};

/// The size of the length before a message on a data socket, in bytes.
pub(crate) const PREFIX: usize = 4;

/// Maximum size of printed text in bytes; the rest is dropped.
pub(crate) const PRINTED_BYTES: usize = 16 << 10;

/// Control: a request to fork a child. The data socket and the lifeline are attached.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spawn {
    pub(crate) memory_bytes: u64,
    /// Modules to load first; unknown names are ignored.
    pub(crate) modules: Vec<String>,
}

/// Requests all modules, in place of a name.
pub(crate) const ALL_MODULES: &str = "*";

/// Maximum size of a request for a child, in bytes.
#[cfg(feature = "worker")]
pub(crate) const SPAWN_BYTES: usize = 4096;

/// Data: a request to a child.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Check that the code compiles.
    Check { code: String, kind: Kind },
    /// Run a job.
    Run(Run),
}

/// A job as sent to a child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) code: String,
    pub(crate) kind: Kind,
    pub(crate) scope: Object,
    pub(crate) now: jiff::Timestamp,
    pub(crate) zone: String,
    pub(crate) seed: u64,
    /// Maximum size of the value as JSON, in bytes.
    pub(crate) output_bytes: usize,
    /// Processor time after which the kernel ends the child if the client's timer has not, in seconds.
    pub(crate) cpu_seconds: u64,
}

/// Data: a message of a child. The first one is always `Ready`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Ready(Isolation),
    Compiled,
    Done { value: Value, printed: String },
    Failed(Fault),
}

/// Why a job gave no value although the child is alive.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fault {
    Python {
        kind: String,
        message: String,
        line: Option<u32>,
        trace: String,
    },
    Syntax {
        message: String,
        line: u32,
        column: u32,
    },
    Memory,
    TooLarge {
        bytes: usize,
    },
    /// The code imports a module that is not loaded in this child.
    Unloaded {
        module: String,
    },
    /// The request is invalid.
    Refused {
        why: String,
    },
}

/// Lifeline: how a child ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChildExit {
    pub(crate) signal: Option<i32>,
    pub(crate) status: Option<i32>,
    /// The last output of the runtime on stderr.
    pub(crate) words: String,
}

/// Serializes a message with its length before it.
pub(crate) fn frame<T: Serialize>(message: &T) -> serde_json::Result<Vec<u8>> {
    let mut bytes = vec![0; PREFIX];
    serde_json::to_writer(&mut bytes, message)?;
    set_length(&mut bytes);
    Ok(bytes)
}

/// Writes the length of the rest into the first four bytes.
pub(crate) fn set_length(bytes: &mut [u8]) {
    let length = u32::try_from(bytes.len().saturating_sub(PREFIX)).unwrap_or(u32::MAX);
    if let Some(prefix) = bytes.first_chunk_mut::<PREFIX>() {
        *prefix = length.to_le_bytes();
    }
}
