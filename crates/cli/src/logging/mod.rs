//! What deft has to say while it works, in `logs/deft.log` of the home: what compute blocks print,
//! leases that could not be renewed, faults of our own.
//!
//! Not here: what a run did, which is in the store, and what a person is told, which is printed.

mod rotate;

use std::io::{self, Write};
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
use crate::terminal::{Stream, Styled};

pub(crate) use rotate::{LogFile, LogLimits};

/// Starts writing the log. One that cannot be written is none: nothing depends on it.
pub(crate) fn start(home: &Path, limits: LogLimits) {
    let Some(lines) = file(home, limits) else {
        return;
    };
    // A second start in one process keeps the first log.
    let _started = tracing_subscriber::registry()
        .with(lines)
        .with(which())
        .try_init();
}

/// The same for a process that stays: its lines are seen at the terminal too.
pub(crate) fn start_daemon(home: &Path, limits: LogLimits, form: LogForm, output: &Output) {
    let seen = |wanted| (!output.quiet && form == wanted).then_some(());
    let styled = output.styles_stderr();
    let text = seen(LogForm::Text).map(|()| {
        tracing_subscriber::fmt::layer()
            .compact()
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || TextLines { styled })
    });
    let json = seen(LogForm::Json).map(|()| {
        tracing_subscriber::fmt::layer()
            .json()
            .flatten_event(true)
            .with_writer(|| JsonLines)
    });
    let _started = tracing_subscriber::registry()
        .with(file(home, limits))
        .with(text)
        .with(json)
        .with(which())
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

/// Libraries are wordy; of them only what is wrong counts. The library for tool servers quotes
/// messages of servers in full, with secrets in them; the router reports what is wrong there.
fn which() -> Targets {
    Targets::new()
        .with_target("deft", LevelFilter::INFO)
        .with_target("rmcp", LevelFilter::OFF)
        .with_default(LevelFilter::WARN)
}

/// Events as text on stderr. Each call is one event.
struct TextLines {
    styled: bool,
}

impl Write for TextLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        Stream::Err.write(text_of_event(&text, self.styled))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Further lines of an event are indented: none of them can pass for an event of its own.
fn text_of_event(text: &str, styled: bool) -> Styled {
    let text = text.trim_end_matches('\n').replace('\n', "\n    ") + "\n";
    let (time, rest) = text.split_once(' ').unwrap_or(("", &text));
    let level = rest.split_whitespace().next().unwrap_or_default();
    let code = match level {
        "ERROR" => "31",
        "WARN" => "33",
        "INFO" => "32",
        _ => return Styled::from(text),
    };
    // The formatter would let sequences in values through beside its own, so deft adds the colours.
    let (pad, rest) = rest.split_once(level).unwrap_or(("", rest));
    Styled::paint("2", time, styled)
        .with(" ")
        .with(pad)
        .with(Styled::paint(code, level, styled))
        .with(rest)
}

/// Events as JSON on stderr. Each call is one event.
struct JsonLines;

impl Write for JsonLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Stream::Err.write_json(&String::from_utf8_lossy(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_servers_do_not_get_into_the_log_by_way_of_a_library() {
        let would_log = |target: &str, level| which().would_enable(target, &level);
        assert!(!would_log("rmcp::service", tracing::Level::ERROR));
        assert!(would_log("deft_tools::server::guard", tracing::Level::WARN));
        assert!(would_log("hyper", tracing::Level::WARN));
    }

    #[test]
    fn an_event_cannot_look_like_two() {
        let text = text_of_event("WARN one\u{1b}[2J\nERROR forged\n", false);
        assert_eq!(text.as_str(), "WARN one\\x1b[2J\n    ERROR forged\n");
    }

    /// The colours are deft's; a sequence in a value is text, whatever it is.
    #[test]
    fn values_cannot_style_the_log() {
        let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let layer = tracing_subscriber::fmt::layer()
            .compact()
            .with_target(false)
            .with_ansi(false)
            .with_writer(move || Sink(sink.clone()));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let hostile = "\x1b[8mhidden\u{202e}";
            tracing::warn!(server = %hostile, "said {hostile}");
        });
        let text = String::from_utf8(seen.lock().unwrap().clone()).unwrap();
        let (time, _) = text.split_once(' ').unwrap();
        let said = "\\x1b[8mhidden\\u{202e}";
        assert_eq!(
            text_of_event(&text, true).as_str(),
            format!("\x1b[2m{time}\x1b[0m  \x1b[33mWARN\x1b[0m said {said} server={said}\n")
        );
        assert_eq!(
            text_of_event(&text, false).as_str(),
            format!("{time}  WARN said {said} server={said}\n")
        );
    }

    #[derive(Clone)]
    struct Sink(std::sync::Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
