//! The log in which the test server records the calls that really happened.

use std::path::Path;

use serde_json::Value;

/// The kind of an event in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call arrived; its effect has not happened yet.
    Started,
    /// The effect has happened; the response may still get lost.
    Finished,
    /// The caller cancelled the call.
    Cancelled,
    /// The server process started.
    Up,
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The kind of the event.
    pub kind: Kind,
    /// The tool; empty for [`Kind::Up`].
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The idempotency key of the call.
    pub key: Option<String>,
    /// The id of the process that wrote the line.
    pub pid: u64,
    /// Microseconds since 1970.
    pub at: u64,
}

/// Returns all events in the log so far. A log that does not exist yet is empty.
pub fn witness(log: &Path) -> Vec<Event> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    // The last line may be incomplete.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().filter_map(read).collect()
}

/// Parses a line. A truncated line is ignored: the server was killed while writing it, so the event counts as
/// not having happened.
fn read(line: &str) -> Option<Event> {
    let value: Value = serde_json::from_str(line).ok()?;
    let kind = match value["event"].as_str() {
        Some("started") => Kind::Started,
        Some("finished") => Kind::Finished,
        Some("cancelled") => Kind::Cancelled,
        _ => Kind::Up,
    };
    Some(Event {
        kind,
        tool: value["tool"].as_str().unwrap_or_default().to_owned(),
        arguments: value["arguments"].clone(),
        key: value["key"].as_str().map(str::to_owned),
        pid: value["pid"].as_u64().unwrap_or_default(),
        at: value["at"].as_u64().unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_line_hides_no_other() {
        let log = tempfile::NamedTempFile::new().expect("a file");
        let text = "\n{\"event\":\"up\",\"pid\":1}\n\n{\"at\":17,\"ev\n{\"event\":\"started\",\"tool\":\"act\",\"pid\":2}\n";
        std::fs::write(log.path(), text).expect("it can be written");
        let seen: Vec<(Kind, u64)> = witness(log.path())
            .iter()
            .map(|event| (event.kind, event.pid))
            .collect();
        assert_eq!(seen, [(Kind::Up, 1), (Kind::Started, 2)]);
    }
}
