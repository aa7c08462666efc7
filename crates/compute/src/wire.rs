//! What client and worker say to each other.
//!
//! Three channels: on the control socket the client asks for children and hands over the other two;
//! on the data socket of a child travel requests and replies, each a length of four bytes and JSON;
//! on its lifeline the worker says once how the child ended, and closing it ends the child. Nothing
//! here reads or writes a channel.

use deft_model::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::job::{Isolation, Kind};

/// The length of what goes before a message on a data socket.
pub(crate) const PREFIX: usize = 4;

/// Printed text beyond this many bytes is dropped.
pub(crate) const PRINTED_BYTES: usize = 16 << 10;

/// Control: fork a child. The data socket and the lifeline travel beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spawn {
    pub(crate) memory_bytes: u64,
    /// Modules that are to be loaded first; other words are passed over.
    pub(crate) modules: Vec<String>,
}

/// In the place of a module: all of them.
pub(crate) const ALL_MODULES: &str = "*";

/// The longest request for a child.
#[cfg(feature = "worker")]
pub(crate) const SPAWN_BYTES: usize = 4096;

/// Data: what a child is asked to do.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Request {
    /// Does it compile?
    Check { code: String, kind: Kind },
    /// Run it.
    Run(Run),
}

/// A job as it travels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) code: String,
    pub(crate) kind: Kind,
    pub(crate) scope: Object,
    pub(crate) now: jiff::Timestamp,
    pub(crate) zone: String,
    pub(crate) seed: u64,
    /// Bytes that the value may have as JSON.
    pub(crate) output_bytes: usize,
    /// Processor time after which the kernel ends the child, should the client's timer not.
    pub(crate) cpu_seconds: u64,
}

/// Data: what a child says. The first is always `Ready`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    Ready(Isolation),
    Compiled,
    Done { value: Value, printed: String },
    Failed(Fault),
}

/// Why a job gave no value although the child lives.
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
    /// The code wanted a module that is not loaded in this child.
    Unloaded {
        module: String,
    },
    /// The request itself cannot be served.
    Refused {
        why: String,
    },
}

/// Lifeline: how a child ended.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChildExit {
    pub(crate) signal: Option<i32>,
    pub(crate) status: Option<i32>,
    /// What the runtime wrote to standard error last.
    pub(crate) words: String,
}

/// A message with its length before it.
pub(crate) fn frame<T: Serialize>(message: &T) -> serde_json::Result<Vec<u8>> {
    let mut bytes = vec![0; PREFIX];
    serde_json::to_writer(&mut bytes, message)?;
    set_length(&mut bytes);
    Ok(bytes)
}

/// Writes the length of what follows into the first four bytes.
pub(crate) fn set_length(bytes: &mut [u8]) {
    let length = u32::try_from(bytes.len().saturating_sub(PREFIX)).unwrap_or(u32::MAX);
    if let Some(prefix) = bytes.first_chunk_mut::<PREFIX>() {
        *prefix = length.to_le_bytes();
    }
}
