//! Live events: stored events first, then new ones, each once and in the order of the store.
//!
//! One task reads the store for all clients (`../hub.rs`), so events of other processes are included and a
//! slow client costs the others nothing. `subscription.rs` is one client; `sse.rs` and `socket.rs` are the
//! transports; `liveness.rs` finds clients that vanished.

mod liveness;
mod socket;
mod sse;
mod subscription;

use serde::Deserialize;

pub(crate) use socket::upgrade;
pub(crate) use sse::stream;

/// Query parameters that select events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct FeedQuery {
    /// Only events after this sequence number. Default: only new events.
    pub(crate) after: Option<u64>,
    /// Only events of this run: its id, the beginning of it, or `last`.
    pub(crate) run: Option<String>,
    /// Only events of this skill.
    pub(crate) skill: Option<String>,
}
