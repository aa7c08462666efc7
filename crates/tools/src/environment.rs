//! The router's dependencies: secrets, a clock, and callbacks for notices, logs and catalogs.
//!
//! The router itself reads no wall clock and no configuration, and of the environment only the few
//! variables that programs need; all of it can be replaced.

use std::sync::Arc;

use arc_swap::ArcSwap;
use deft_model::Failure;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::secret::{Secret, SecretSource};
use crate::sign_in::{CredentialVault, MemoryVault};

/// A message to a person from the `notify` tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The text.
    pub message: String,
    /// A heading.
    pub title: Option<String>,
    /// The destination; `None` is the primary chat.
    pub target: Option<String>,
    /// The idempotency key of the call, so that a repeated call is one notice.
    pub key: String,
}

/// The severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Details for debugging.
    Debug,
    /// An ordinary event.
    Info,
    /// A possible problem.
    Warning,
    /// A failure.
    Error,
}

/// A line that a skill wrote with the `log` tool.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// The severity.
    pub level: Level,
    /// The text.
    pub message: String,
    /// Further fields.
    pub fields: Option<Value>,
    /// The idempotency key of the call.
    pub key: String,
}

/// Accepts a notice; the future completes when the notice is stored.
pub type Notices = dyn Fn(Notice) -> BoxFuture<'static, Result<(), Failure>> + Send + Sync;

/// The time zone of the host, which may change while deft runs. Clones share it.
#[derive(Clone, Debug)]
pub struct HostZone(Arc<ArcSwap<TimeZone>>);

impl HostZone {
    /// Creates a shared zone.
    pub fn new(zone: TimeZone) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(zone)))
    }

    /// Returns the current zone.
    pub fn get(&self) -> TimeZone {
        self.0.load().as_ref().clone()
    }

    /// Replaces the zone.
    pub fn set(&self, zone: TimeZone) {
        self.0.store(Arc::new(zone));
    }
}

/// Everything that the router needs from its host.
#[derive(Clone)]
pub struct Environment {
    /// Source of the configuration's secrets.
    pub secrets: Arc<dyn SecretSource>,
    /// Storage for sign-ins to servers.
    pub vault: Arc<dyn CredentialVault>,
    /// Receives the notices of `notify`; an error fails the call.
    pub notices: Arc<Notices>,
    /// Receives the lines of `log`.
    pub logs: Arc<dyn Fn(LogLine) + Send + Sync>,
    /// Receives every new catalog, to store it.
    pub catalogs: Arc<dyn Fn(&Catalog) + Send + Sync>,
    /// The wall clock.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// The time zone of the host.
    pub zone: HostZone,
    /// Environment variables that every child process gets, besides its own.
    pub inherited: Vec<(String, String)>,
}

struct NoSecrets;

impl SecretSource for NoSecrets {
    fn secret(&self, _: &str) -> Result<Secret, String> {
        Err("no source of secrets was given".to_owned())
    }
}

impl Default for Environment {
    /// The real clock and the usual variables, no secrets; notices and logs are dropped.
    fn default() -> Self {
        Self {
            secrets: Arc::new(NoSecrets),
            vault: Arc::new(MemoryVault::default()),
            notices: Arc::new(|_| Box::pin(std::future::ready(Ok(())))),
            logs: Arc::new(|_| ()),
            catalogs: Arc::new(|_| ()),
            now: Arc::new(Timestamp::now),
            zone: HostZone::new(TimeZone::UTC),
            inherited: usual_variables(),
        }
    }
}

/// The variables that a program needs to find itself and its files; none is a secret.
const USUAL: [&str; 11] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
];

/// Returns the usual variables of this process, for child processes.
fn usual_variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| USUAL.contains(&name.as_str()))
        .collect()
}
