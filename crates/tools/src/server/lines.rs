//! Reads lines of limited length from a server's output.
//!
//! Only the first and last bytes of an overlong line are kept, because one of them contains the id of
//! the request that it answers.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The number of bytes kept from each end of an overlong line.
const EDGE: usize = 512;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line; [`Lines::line`] returns it.
    Whole,
    /// A line over the limit.
    Overlong(Overlong),
    /// The end of the output.
    End,
}

/// The kept parts of a line over the limit.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Overlong {
    pub(super) bytes: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl Overlong {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        let room = EDGE.saturating_sub(self.head.len());
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.tail
            .extend_from_slice(&bytes[bytes.len().saturating_sub(EDGE)..]);
        let excess = self.tail.len().saturating_sub(EDGE);
        self.tail.drain(..excess);
    }

    /// Returns the id of the request that the line answers, if it can be found.
    ///
    /// The key may come before or after the result.
    pub(super) fn id(&self) -> Option<i64> {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        let before_result = ["\"result\"", "\"error\"", "\"params\""]
            .iter()
            .filter_map(|key| head.find(key))
            .min()
            .unwrap_or(head.len());
        let front = &head[..before_result];
        let first = front.find("\"id\"").and_then(|at| id_after(front, at));
        first.map(|(id, _)| id).or_else(|| id_at_end(&tail))
    }
}

impl Overlong {
    /// Whether the kept parts look like a reply.
    pub(super) fn is_reply(&self) -> bool {
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        let version = "\"jsonrpc\"";
        head.trim_start().starts_with('{')
            && (head.contains(version) || tail.contains(version))
            && !head.contains("\"method\"")
    }
}

/// Returns the number after the key that starts at `at`, and the text that follows it.
fn id_after(text: &str, at: usize) -> Option<(i64, &str)> {
    let rest = text[at..]
        .strip_prefix("\"id\"")?
        .trim_start()
        .strip_prefix(':')?
        .trim_start();
    let digits = rest
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(rest.len());
    Some((rest[..digits].parse().ok()?, &rest[digits..]))
}

/// Returns the number of an `id` key at the end of the object.
fn id_at_end(text: &str) -> Option<i64> {
    let (id, rest) = id_after(text, text.rfind("\"id\"")?)?;
    let rest: String = rest.split_whitespace().collect();
    matches!(rest.as_str(), "}" | ",\"jsonrpc\":\"2.0\"}").then_some(id)
}

/// Reads lines up to a maximum length.
pub(super) struct Lines<R> {
    read: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    done: bool,
    overlong: Option<Overlong>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(read: R, longest: usize) -> Self {
        Self {
            read: BufReader::with_capacity(64 * 1024, read),
            longest,
            line: Vec::new(),
            done: false,
            overlong: None,
        }
    }

    /// Returns the last line, without its line break.
    pub(super) fn line(&self) -> &[u8] {
        self.line.trim_ascii_end()
    }

    /// Reads to the end of the line. Cancel-safe: bytes that were already read stay buffered here.
    pub(super) async fn next(&mut self) -> Line {
        if self.done {
            self.done = false;
            self.line.clear();
            // One large reply must not keep its memory forever.
            self.line.shrink_to(64 * 1024);
        }
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) | Err(_) => return Line::End,
                Ok(available) => available,
            };
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let chunk = &available[..taken];
            if let Some(overlong) = &mut self.overlong {
                overlong.push(chunk);
            } else if self.line.len() + taken > self.longest {
                let mut overlong = Overlong::default();
                overlong.push(&self.line);
                overlong.push(chunk);
                self.overlong = Some(overlong);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(chunk);
            }
            self.read.consume(taken);
            if newline.is_some() {
                if let Some(overlong) = self.overlong.take() {
                    return Line::Overlong(overlong);
                }
                self.done = true;
                return Line::Whole;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &str, longest: usize) -> Vec<Result<String, Option<i64>>> {
        let mut lines = Lines::new(text.as_bytes(), longest);
        let mut found = Vec::new();
        loop {
            match lines.next().await {
                Line::Whole => found.push(Ok(String::from_utf8_lossy(lines.line()).into_owned())),
                Line::Overlong(overlong) => found.push(Err(overlong.id())),
                Line::End => return found,
            }
        }
    }

    #[tokio::test]
    async fn only_long_lines_are_skipped() {
        let long = format!("{{\"id\":7,\"result\":\"{}\"}}", "x".repeat(2000));
        let text = format!("one\r\n{long}\ntwo\nhalf");
        assert_eq!(
            read(&text, 100).await,
            [Ok("one".to_owned()), Err(Some(7)), Ok("two".to_owned())]
        );
    }

    #[tokio::test]
    async fn the_id_is_found_before_and_after_the_payload() {
        let x = "x".repeat(2000);
        for (line, id) in [
            (
                format!("{{\"jsonrpc\":\"2.0\",\"id\":12,\"result\":{{\"a\":\"{x}\"}}}}"),
                Some(12),
            ),
            (
                format!("{{\"result\":{{\"id\":3,\"a\":\"{x}\"}},\"jsonrpc\":\"2.0\",\"id\":12}}"),
                Some(12),
            ),
            (
                format!("{{\"result\":{{\"a\":\"{x}\"}},\"id\": 12 , \"jsonrpc\": \"2.0\"}}"),
                Some(12),
            ),
            (format!("{{\"result\":{{\"a\":\"{x}\",\"id\":3}}}}"), None),
            (format!("noise {x}"), None),
        ] {
            assert_eq!(
                read(&format!("{line}\n"), 100).await,
                [Err(id)],
                "{}",
                &line[..40]
            );
        }
    }
}
