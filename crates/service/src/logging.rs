//! The log of a home, `logs/deft.log`: what compute blocks print, leases that could not be renewed, faults
//! of deft itself.
//!
//! Not here: what a run did, which is in the store, and what a person is told, which a front end prints.

use std::path::Path;
use std::sync::Mutex;

use deft_channels::LogFile;
use deft_config::LogLimits;
use tracing::Subscriber;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

/// A further place that log events go to, such as the terminal of a daemon.
pub type Sink = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts writing the log. One that cannot be written is left out: nothing depends on it.
pub fn start(home: &Path, limits: LogLimits) {
    start_with(home, limits, Vec::new());
}

/// The same with further sinks. A second start in one process keeps the first log.
pub fn start_with(home: &Path, limits: LogLimits, mut sinks: Vec<Sink>) {
    if let Some(file) = file(home, limits) {
        sinks.push(file.boxed());
    }
    let _started = tracing_subscriber::registry()
        .with(sinks)
        .with(levels())
        .try_init();
}

/// The lines of the log: one JSON object each, for every writer.
fn file<S>(home: &Path, limits: LogLimits) -> Option<impl Layer<S> + use<S>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let file = LogFile::open(&home.join("logs").join("deft.log"), limits);
    let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
    Some(layer.with_writer(Mutex::new(file.ok()?)))
}

/// Of libraries only warnings are logged. The library for tool servers quotes messages of servers in full,
/// with secrets in them; the router reports what is wrong there.
fn levels() -> Targets {
    Targets::new()
        .with_target("deft", LevelFilter::INFO)
        .with_target("rmcp", LevelFilter::OFF)
        .with_default(LevelFilter::WARN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_servers_do_not_get_into_the_log_by_way_of_a_library() {
        let would_log = |target: &str, level| levels().would_enable(target, &level);
        assert!(!would_log("rmcp::service", tracing::Level::ERROR));
        assert!(would_log("deft_tools::server::guard", tracing::Level::WARN));
        assert!(would_log("hyper", tracing::Level::WARN));
    }
}
