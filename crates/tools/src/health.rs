//! How servers are doing, as data for people and dashboards.

use std::time::Duration;

use serde::Serialize;

use crate::tool::DisabledTool;

/// Where a server is in its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ServerState {
    /// Switched off in the configuration.
    Disabled,
    /// Not needed so far.
    Stopped,
    /// Being started.
    Starting,
    /// Connected.
    Ready,
    /// Lost or failed to start; tried again after this long.
    BackingOff {
        /// Milliseconds until it may be started again.
        retry_in_ms: u64,
    },
    /// Failed too often; not tried at all for this long.
    CircuitOpen {
        /// Milliseconds until one call is let through.
        retry_in_ms: u64,
    },
}

/// How one server is doing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Health {
    /// Its name.
    pub server: String,
    /// Where it is in its life.
    #[serde(flatten)]
    pub state: ServerState,
    /// Whether its tools were listed since this process started.
    pub listed: bool,
    /// How many tools are known of it.
    pub tools: usize,
    /// Tools of it that cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<DisabledTool>,
    /// Calls so far.
    pub calls: u64,
    /// Calls that did not bring a reply.
    pub failures: u64,
    /// How often it was started.
    pub starts: u64,
    /// Calls under way.
    pub in_flight: usize,
    /// The last failure of a call or a start.
    pub last_error: Option<String>,
    /// The revision of the protocol it speaks, once known.
    pub protocol: Option<String>,
}

/// What a look at a server found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// Its name.
    pub server: String,
    /// What it calls itself, with its version.
    pub implementation: Option<String>,
    /// The revision of the protocol.
    pub protocol: Option<String>,
    /// Names of its tools.
    pub tools: Vec<String>,
    /// Tools of it that cannot be used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<DisabledTool>,
    /// How long connecting took; zero when it was connected already.
    #[serde(serialize_with = "millis")]
    pub connect: Duration,
    /// How long a listing took.
    #[serde(serialize_with = "millis")]
    pub latency: Duration,
    /// Why it does not work.
    pub error: Option<String>,
    /// What a person can do about it.
    pub hint: Option<String>,
}

fn millis<S: serde::Serializer>(length: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(length.as_secs_f64() * 1000.0)
}
