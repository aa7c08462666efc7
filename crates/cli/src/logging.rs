//! Log lines of a daemon on its terminal, as text or as JSON.
//!
//! Not here: the log file, which the service writes.

use std::fmt;
use std::io::{self, Write};

use deft_service::logging::Sink;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::args::LogForm;
use crate::output::Output;
use crate::terminal::{Stream, StyledText};

/// Returns where log lines of a daemon are written besides the log file: to stderr, or nowhere with
/// `--quiet`.
pub(crate) fn sinks(form: LogForm, zone: TimeZone, output: &Output) -> Vec<Sink> {
    if output.quiet {
        return Vec::new();
    }
    let styled = output.styles_stderr();
    let layer = tracing_subscriber::fmt::layer();
    vec![match form {
        LogForm::Text => layer
            .compact()
            .with_target(false)
            .with_ansi(false)
            .with_timer(LocalTime(zone))
            .with_writer(move || TextLines { styled })
            .boxed(),
        LogForm::Json => layer
            .json()
            .flatten_event(true)
            .with_writer(|| JsonLines)
            .boxed(),
    }]
}

/// The time of a log line in the user's zone. The log file has exact instants.
struct LocalTime(TimeZone);

/// The length of the time of a log line, in bytes.
const TIME: usize = "2026-01-31 09:00:00".len();

impl FormatTime for LocalTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let now = Timestamp::now().to_zoned(self.0.clone());
        write!(writer, "{}", now.strftime("%Y-%m-%d %H:%M:%S"))
    }
}

/// Writes log lines as text to stderr. Each call of `write` is one event.
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

/// Formats an event. Its continuation lines are indented, so they cannot be mistaken for events.
fn text_of_event(text: &str, styled: bool) -> StyledText {
    let text = text.trim_end_matches('\n').replace('\n', "\n    ") + "\n";
    let (time, rest) = text.split_at_checked(TIME).unwrap_or(("", &text));
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let level = rest.split_whitespace().next().unwrap_or_default();
    let code = match level {
        "ERROR" => "31",
        "WARN" => "33",
        "INFO" => "32",
        _ => return StyledText::from(text),
    };
    // The formatter with colours would also pass control sequences in values on, so deft adds the colours
    // here.
    let (pad, rest) = rest.split_once(level).unwrap_or(("", rest));
    StyledText::paint("2", time, styled)
        .with(" ")
        .with(pad)
        .with(StyledText::paint(code, level, styled))
        .with(rest)
}

/// Writes log lines as JSON to stderr. Each call of `write` is one event.
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
    use parking_lot::Mutex;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let text = text_of_event("WARN one\u{1b}[2J\nERROR forged\n", false);
        assert_eq!(text.as_str(), "WARN one\\x1b[2J\n    ERROR forged\n");
    }

    /// Only deft writes colour codes; control sequences in values are escaped.
    #[test]
    fn values_cannot_style_the_log() {
        let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
        let sink = seen.clone();
        let layer = tracing_subscriber::fmt::layer()
            .compact()
            .with_target(false)
            .with_ansi(false)
            .with_timer(LocalTime(TimeZone::UTC))
            .with_writer(move || Sink(sink.clone()));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), || {
            let hostile = "\x1b[8mhidden\u{202e}";
            tracing::warn!(server = %hostile, "said {hostile}");
        });
        let text = String::from_utf8(seen.lock().clone()).unwrap();
        let time = &text[..TIME];
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
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
