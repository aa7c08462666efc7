//! What deft has to say while it works, in `logs/deft.log` of the home: what compute blocks print,
//! leases that could not be renewed, faults of our own.
//!
//! Not here: what a run did, which is in the store, and what a person is told, which is printed.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::Mutex;

use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

use crate::args::LogForm;
use crate::output::Output;

/// Starts writing the log. One that cannot be written is none: nothing depends on it.
pub(crate) fn start(home: &Path) {
    let Some(lines) = file(home) else {
        return;
    };
    // A second start in one process keeps the first log.
    let _started = tracing_subscriber::registry()
        .with(lines)
        .with(which())
        .try_init();
}

/// The same for a process that stays: its lines are seen at the terminal too.
pub(crate) fn start_daemon(home: &Path, form: LogForm, output: &Output) {
    let seen = (!output.quiet).then(std::io::stderr);
    let text = seen.as_ref().filter(|_| form == LogForm::Text).map(|_| {
        tracing_subscriber::fmt::layer()
            .compact()
            .with_target(false)
            .with_ansi(output.styles_stderr())
            .with_writer(std::io::stderr)
    });
    let json = seen.as_ref().filter(|_| form == LogForm::Json).map(|_| {
        tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(std::io::stderr)
    });
    let _started = tracing_subscriber::registry()
        .with(file(home))
        .with(text)
        .with(json)
        .with(which())
        .try_init();
}

/// The lines of the log: one JSON object each, whoever writes them.
fn file<S>(home: &Path) -> Option<impl Layer<S> + use<S>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let folder = home.join("logs");
    let path = folder.join("deft.log");
    let file = fs::create_dir_all(&folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(path));
    let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
    Some(layer.with_writer(Mutex::new(file.ok()?)))
}

/// Libraries are wordy; of them only what is wrong counts.
fn which() -> Targets {
    Targets::new()
        .with_target("deft", LevelFilter::INFO)
        .with_default(LevelFilter::WARN)
}
