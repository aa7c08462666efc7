//! Live events: stored ones first, then those that come, each once and in the order of the store.
//!
//! One task reads the store for all clients (`../hub.rs`), so that events of other processes come too and a client that
//! reads slowly costs the others nothing. `subscription.rs` is one client, `sse.rs` and `socket.rs` are its wires.

mod socket;
mod sse;
mod subscription;

use serde::Deserialize;

pub(crate) use socket::upgrade;
pub(crate) use sse::stream;

/// What a client wants to hear.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct FeedQuery {
    /// Events behind this place of the store; only those to come if it is not given.
    pub(crate) after: Option<u64>,
    /// Only events of this run: its id, the beginning of it, or `last`.
    pub(crate) run: Option<String>,
    /// Only events of this skill.
    pub(crate) skill: Option<String>,
}
