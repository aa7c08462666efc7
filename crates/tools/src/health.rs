//! The state of servers, as data for people and dashboards.

use std::time::Duration;

use serde::Serialize;

use crate::tool::DisabledTool;

/// The state of a server's connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ServerState {
    /// Disabled in the configuration.
    Disabled,
    /// Not connected: not needed yet, or shut down.
    Stopped,
    /// Being started.
    Starting,
    /// Connected.
    Ready,
    /// The connection was lost or failed to start; restarted after a delay.
    BackingOff {
        /// Milliseconds until the next start is allowed.
        retry_in_ms: u64,
    },
    /// Failed too often; no calls are allowed for a while.
    CircuitOpen {
        /// Milliseconds until one trial call is allowed.
        retry_in_ms: u64,
    },
}

/// The state and counters of one server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Health {
    /// The name of the server.
    pub server: String,
    /// The state of its connection.
    #[serde(flatten)]
    pub state: ServerState,
    /// Whether its tools were listed since this process started.
    pub listed: bool,
    /// Number of known tools.
    pub tools: usize,
    /// Listed tools that cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<DisabledTool>,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls without a reply.
    pub failures: u64,
    /// Number of starts.
    pub starts: u64,
    /// Number of calls in flight.
    pub in_flight: usize,
    /// The last failure of a call or a start.
    pub last_error: Option<String>,
    /// The protocol revision, once known.
    pub protocol: Option<String>,
}

/// The result of probing a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// The name of the server.
    pub server: String,
    /// The server's name for itself, with its version.
    pub implementation: Option<String>,
    /// The protocol revision.
    pub protocol: Option<String>,
    /// The names of its tools.
    pub tools: Vec<String>,
    /// Listed tools that cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<DisabledTool>,
    /// The time to connect; zero if it was already connected.
    #[serde(serialize_with = "millis")]
    pub connect: Duration,
    /// The time to list the tools.
    #[serde(serialize_with = "millis")]
    pub latency: Duration,
    /// Why the probe failed.
    pub error: Option<String>,
    /// How a person can fix it.
    pub hint: Option<String>,
}

fn millis<S: serde::Serializer>(length: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(length.as_secs_f64() * 1000.0)
}
