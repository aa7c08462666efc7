//! What the router needs from outside: secrets, a clock, and ears.
//!
//! The router itself reads no clock for wall time, no configuration, and of the
//! environment only the few variables that programs need; all of it can be
//! replaced.

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

/// A message to a person, as the `notify` tool was given it.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// What to say.
    pub message: String,
    /// A heading.
    pub title: Option<String>,
    /// Where to say it; the primary chat when absent.
    pub target: Option<String>,
    /// The idempotency key of the call, so that a repeated call is one notice.
    pub key: String,
}

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Detail.
    Debug,
    /// News.
    Info,
    /// Something to look at.
    Warning,
    /// Something that went wrong.
    Error,
}

/// A line that a skill wrote with the `log` tool.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLine {
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub message: String,
    /// Further fields.
    pub fields: Option<Value>,
    /// The idempotency key of the call.
    pub key: String,
}

/// Takes a notice; what it gives is ready when the notice is safe.
pub type Notices = dyn Fn(Notice) -> BoxFuture<'static, Result<(), Failure>> + Send + Sync;

/// The zone of the host, which may change while deft runs. Clones share it.
#[derive(Clone, Debug)]
pub struct HostZone(Arc<ArcSwap<TimeZone>>);

impl HostZone {
    /// A zone.
    pub fn new(zone: TimeZone) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(zone)))
    }

    /// The zone now.
    pub fn get(&self) -> TimeZone {
        self.0.load().as_ref().clone()
    }

    /// Uses another zone from now on.
    pub fn set(&self, zone: TimeZone) {
        self.0.store(Arc::new(zone));
    }
}

/// Everything outside that the router uses.
#[derive(Clone)]
pub struct Environment {
    /// Where secrets of the configuration come from.
    pub secrets: Arc<dyn SecretSource>,
    /// Where sign-ins to servers are stored.
    pub vault: Arc<dyn CredentialVault>,
    /// Takes what `notify` says; an error is the failure of that call.
    pub notices: Arc<Notices>,
    /// Takes what `log` says.
    pub logs: Arc<dyn Fn(LogLine) + Send + Sync>,
    /// Receives every new catalog, to store it.
    pub catalogs: Arc<dyn Fn(&Catalog) + Send + Sync>,
    /// The time of day.
    pub now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// The zone of the host.
    pub zone: HostZone,
    /// Variables that every child process gets, besides its own.
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

/// What a program needs to find itself and its files, and nothing that might be secret.
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

/// The usual variables of this process, for programs that it starts.
fn usual_variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| USUAL.contains(&name.as_str()))
        .collect()
}
