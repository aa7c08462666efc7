//! Splits the bytes of a stream into the data of its events: server-sent events, or one event per line.
//!
//! Unknown lines are skipped, as the standard requires. Not here: the meaning of the data, and limits on its
//! size.

use std::collections::VecDeque;

/// How events are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One event per line.
    Lines,
}

/// Collects bytes and returns the data of whole events.
pub(crate) struct Frames {
    framing: Framing,
    /// The beginning of an incomplete line.
    line: Vec<u8>,
    /// Whether the last line ended with a carriage return, which a line feed may follow.
    returned: bool,
    /// The data of the event so far.
    data: Option<String>,
    ready: VecDeque<String>,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            returned: false,
            data: None,
            ready: VecDeque::new(),
        }
    }

    pub(crate) fn push(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.returned) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.line.extend_from_slice(bytes);
                return;
            };
            self.line.extend_from_slice(&bytes[..end]);
            self.returned = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            self.end_line();
        }
    }

    /// Returns the data of the next whole event.
    pub(crate) fn next(&mut self) -> Option<String> {
        self.ready.pop_front()
    }

    /// Returns the remaining data after the last byte. A last line without an end is included; parsing it
    /// shows whether it is whole.
    pub(crate) fn last(&mut self) -> Option<String> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.ready.pop_front().or_else(|| self.data.take())
    }

    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        match self.framing {
            Framing::Lines if line.trim().is_empty() => {}
            Framing::Lines => self.ready.push_back(line),
            Framing::Events if line.is_empty() => self.ready.extend(self.data.take()),
            Framing::Events => {
                let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
                let Some(value) = line.strip_prefix("data:") else {
                    return;
                };
                let value = value.strip_prefix(' ').unwrap_or(value);
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frames, Framing};

    fn read(framing: Framing, pieces: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(framing);
        for piece in pieces {
            frames.push(piece);
        }
        let mut out: Vec<String> = std::iter::from_fn(|| frames.next()).collect();
        out.extend(frames.last());
        out
    }

    #[test]
    fn events_do_not_depend_on_chunk_boundaries() {
        let text = "\u{feff}data: ein Gr\u{fc}\u{df}chen\r\n\r\n: comment\nevent: x\nnonsense\ndata:a\ndata: b\n\nid: 1\rdata: c\r\rdata: open";
        let whole = read(Framing::Events, &[text.as_bytes()]);
        assert_eq!(whole, ["ein Gr\u{fc}\u{df}chen", "a\nb", "c", "open"]);
        for cut in 0..text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            assert_eq!(read(Framing::Events, &[a, b"", b]), whole, "cut at {cut}");
        }
    }

    #[test]
    fn the_last_line_may_lack_its_line_end() {
        let lines = read(Framing::Lines, &[b"{\"a\"", b":1}\r\n\n {\"b\":2}"]);
        assert_eq!(lines, ["{\"a\":1}", " {\"b\":2}"]);
    }
}
