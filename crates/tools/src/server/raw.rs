//! Inspects a line that the JSON parser rejected, byte by byte.
//!
//! The parser returns nothing for a line that is nested too deeply or is not UTF-8. The call that waits
//! for it must fail at once, so the top-level fields are read here, without recursion and without
//! decoding strings.
//!
//! Not here: lines that are too long (`lines.rs`).

/// The deepest nesting that the JSON parser accepts.
const MAX_DEPTH: usize = 127;
/// The maximum depth of a pruned line, with room for what surrounds it.
const PRUNED: usize = 100;

/// Replaces values that are nested too deeply in a pruned line.
pub(super) const TOO_DEEP_MARK: &str = "[deft: nested too deeply]";

/// Why a line cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    NotUtf8,
    TooDeep,
    NotJson,
    NoMessage,
}

impl Problem {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::NotUtf8 => "the reply is not UTF-8",
            Self::TooDeep => "the reply is nested too deeply",
            Self::NotJson => "the reply is not JSON",
            Self::NoMessage => "the reply is not a message of the protocol",
        }
    }
}

/// The top-level fields of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Raw {
    pub(super) problem: Problem,
    /// The id of the request that it answers.
    pub(super) id: Option<i64>,
    /// Whether it looks like a reply, as opposed to a request, a notification or a log line.
    pub(super) is_reply: bool,
}

/// Inspects a line that could not be parsed; `None` if it is not an object.
pub(super) fn inspect(line: &[u8]) -> Option<Raw> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    let mut top = Top::default();
    let deepest = walk(line, |event| top.take(event, line));
    let problem = if std::str::from_utf8(line).is_err() {
        Problem::NotUtf8
    } else if deepest > MAX_DEPTH {
        Problem::TooDeep
    } else if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err() {
        Problem::NotJson
    } else {
        Problem::NoMessage
    };
    Some(Raw {
        problem,
        id: top.id.filter(|_| !top.has_method),
        is_reply: top.has_version && !top.has_method,
    })
}

/// Replaces everything that is nested too deeply by [`TOO_DEEP_MARK`].
pub(super) fn prune(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut copied = 0;
    walk(line, |event| match event {
        Event::Open { at, depth } if depth == PRUNED => {
            out.extend_from_slice(&line[copied..at]);
            out.extend_from_slice(format!("\"{TOO_DEEP_MARK}\"").as_bytes());
        }
        Event::Close { at, depth } if depth == PRUNED => copied = at + 1,
        Event::Open { .. } | Event::Close { .. } | Event::Text { .. } => {}
    });
    out.extend_from_slice(&line[copied..]);
    out
}

/// A structural element of a line.
#[derive(Clone, Copy)]
enum Event {
    /// The start of a list or an object; `depth` counts those around it.
    Open { at: usize, depth: usize },
    /// The end of a list or an object.
    Close { at: usize, depth: usize },
    /// A string, without its quotes.
    Text {
        from: usize,
        to: usize,
        depth: usize,
    },
}

/// Reports the structural elements of a line in order, and returns the deepest nesting.
fn walk(line: &[u8], mut tell: impl FnMut(Event)) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => {
                tell(Event::Open { at, depth });
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                tell(Event::Close { at, depth });
            }
            b'"' => {
                let from = at + 1;
                at = end_of_string(line, from);
                tell(Event::Text {
                    from,
                    to: at,
                    depth,
                });
            }
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// Returns the offset of the quote that ends a string, or the length of the line.
fn end_of_string(line: &[u8], from: usize) -> usize {
    let mut at = from;
    while at < line.len() {
        match line[at] {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    line.len()
}

/// The top-level fields that matter.
#[derive(Default)]
struct Top {
    id: Option<i64>,
    has_method: bool,
    has_version: bool,
}

impl Top {
    fn take(&mut self, event: Event, line: &[u8]) {
        let Event::Text { from, to, depth: 1 } = event else {
            return;
        };
        let Some(after) = line.get(to + 1..).map(<[u8]>::trim_ascii_start) else {
            return;
        };
        // Only a key is followed by a colon.
        let Some(value) = after.strip_prefix(b":").map(<[u8]>::trim_ascii_start) else {
            return;
        };
        match &line[from..to] {
            b"id" => self.id = number(value),
            b"method" => self.has_method = true,
            b"jsonrpc" => self.has_version = true,
            _ => {}
        }
    }
}

fn number(value: &[u8]) -> Option<i64> {
    let end = value
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(value.len());
    std::str::from_utf8(&value[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(problem: Problem, id: Option<i64>) -> Raw {
        Raw {
            problem,
            id,
            is_reply: true,
        }
    }

    #[test]
    fn the_id_is_found_before_and_after_unreadable_content() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let first = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{deep}}}");
        let last =
            format!("{{\"result\":{{\"id\":3,\"x\":{deep}}},\"id\": 7 ,\"jsonrpc\":\"2.0\"}}");
        assert_eq!(
            inspect(first.as_bytes()),
            Some(reply(Problem::TooDeep, Some(7)))
        );
        assert_eq!(
            inspect(last.as_bytes()),
            Some(reply(Problem::TooDeep, Some(7)))
        );
        let odd = b"{\"jsonrpc\":\"2.0\",\"result\":\"\xff\\\"}\",\"id\":7}";
        assert_eq!(inspect(odd), Some(reply(Problem::NotUtf8, Some(7))));
        let half = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a";
        assert_eq!(inspect(half), Some(reply(Problem::NotJson, Some(7))));
        let text = b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":5}";
        assert_eq!(inspect(text), Some(reply(Problem::NoMessage, None)));
    }

    #[test]
    fn log_lines_and_notifications_are_not_replies() {
        assert_eq!(inspect(b"DEBUG {"), None);
        let log = inspect(b"{\"level\":\"info\",\"id\":\"a").unwrap();
        assert!(!log.is_reply && log.id.is_none());
        let note = inspect(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":4,\"params\":\"\xff\"}");
        let note = note.unwrap();
        assert!(!note.is_reply && note.id.is_none());
    }

    #[test]
    fn pruning_removes_only_deeply_nested_values() {
        let deep = format!("{}\"x]\"{}", "[".repeat(400), "]".repeat(400));
        let line = format!("{{\"a\":[1,\"}}\"],\"b\":{deep},\"c\":{{\"d\":2}}}}");
        let read: serde_json::Value = serde_json::from_slice(&prune(line.as_bytes())).unwrap();
        assert_eq!(read["a"], serde_json::json!([1, "}"]));
        assert_eq!(read["c"]["d"], 2);
        assert!(read["b"].to_string().contains(TOO_DEEP_MARK));
        assert_eq!(prune(b"{\"a\":[1]}"), b"{\"a\":[1]}");
    }
}
