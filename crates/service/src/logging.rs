//! The log of a home, `logs/deft.log`: output of compute blocks, failed lease renewals, internal errors of
//! deft.
//!
//! Not here: the events of runs, which are in the store, and messages to users, which front ends print.

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

/// A further target of log events, such as the terminal of a daemon.
pub type Sink = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts writing the log. Errors are ignored: deft works without a log.
pub fn start(home: &Path, limits: LogLimits) {
    start_with(home, limits, Vec::new());
}

/// Like [`start`], with further sinks. A second call in one process has no effect.
pub fn start_with(home: &Path, limits: LogLimits, mut sinks: Vec<Sink>) {
    if let Some(file) = file(home, limits) {
        sinks.push(file.boxed());
    }
    let _started = tracing_subscriber::registry()
        .with(sinks)
        .with(levels())
        .try_init();
}

/// Returns the layer that writes the log file, one JSON object per line.
fn file<S>(home: &Path, limits: LogLimits) -> Option<impl Layer<S> + use<S>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let file = LogFile::open(&home.join("logs").join("deft.log"), limits);
    let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
    Some(layer.with_writer(Mutex::new(file.ok()?)))
}

/// Libraries log warnings only. The MCP library is silenced, because it quotes server messages in full,
/// including secrets; the router reports their errors.
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
    fn libraries_do_not_log_messages_of_servers() {
        let would_log = |target: &str, level| levels().would_enable(target, &level);
        assert!(!would_log("rmcp::service", tracing::Level::ERROR));
        assert!(would_log("deft_tools::server::guard", tracing::Level::WARN));
        assert!(would_log("hyper", tracing::Level::WARN));
    }
}
