//! The stderr output of a server; its end is kept for messages.
//!
//! Lines are truncated, and of many lines in a short time only some are processed, so that a server
//! cannot keep deft busy by writing. Secrets are removed before a line is truncated, because a
//! truncated secret would not be found.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio::time::Instant;

use super::lines::{Line, Lines};
use super::watch::Watch;
use crate::redact::Redaction;

/// The longest line that is read at all, in bytes.
const MAX_LINE_BYTES: usize = 16 * 1024;
/// The maximum length of a kept line, in bytes.
const MAX_KEPT_LINE_BYTES: usize = 4 * 1024;
/// The maximum number of lines kept per window.
const MAX_LINES: u64 = 200;
const WINDOW: Duration = Duration::from_secs(1);

/// Reads stderr to its end.
pub(super) async fn listen(
    stderr: impl AsyncRead + Unpin,
    watch: Arc<Watch>,
    redaction: Redaction,
) {
    listen_at(stderr, &watch, &redaction, Instant::now).await;
}

async fn listen_at(
    stderr: impl AsyncRead + Unpin,
    watch: &Watch,
    redaction: &Redaction,
    now: impl Fn() -> Instant,
) {
    let mut lines = Lines::new(stderr, MAX_LINE_BYTES);
    let mut limit = LineLimit::default();
    let hear = |kept: OutputItem| match kept {
        OutputItem::Line(line) => watch.add_stderr(&cut(redaction, &line)),
        OutputItem::Dropped(1) => watch.add_stderr("[1 line dropped]"),
        OutputItem::Dropped(count) => watch.add_stderr(&format!("[{count} lines dropped]")),
    };
    loop {
        let kept = match lines.next().await {
            Line::Whole => limit.take(now(), lines.line()),
            Line::Overlong(overlong) => {
                let note = format!("[a line of {} bytes]", overlong.bytes);
                limit.take(now(), note.as_bytes())
            }
            Line::End => break,
        };
        kept.into_iter().for_each(hear);
    }
    limit.finish().into_iter().for_each(hear);
    // The last line may have no line break.
    if !lines.line().is_empty() {
        hear(OutputItem::Line(lines.line().to_owned()));
    }
}

fn cut(redaction: &Redaction, line: &[u8]) -> String {
    let mut text = redaction.redact_owned(String::from_utf8_lossy(line).into_owned());
    text.truncate(text.floor_char_boundary(MAX_KEPT_LINE_BYTES));
    text
}

/// An item of the kept output.
#[derive(Debug, PartialEq, Eq)]
enum OutputItem {
    Line(Vec<u8>),
    /// The number of lines dropped at this point.
    Dropped(u64),
}

/// Counts lines and decides which to keep. The last line of a burst is always kept: a server writes
/// last why it exits.
#[derive(Default)]
struct LineLimit {
    since: Option<Instant>,
    lines: u64,
    dropped: u64,
    last: Vec<u8>,
}

impl LineLimit {
    /// Counts a line; returns the items to keep now.
    fn take(&mut self, now: Instant, line: &[u8]) -> Vec<OutputItem> {
        let since = *self.since.get_or_insert(now);
        let mut kept = Vec::new();
        if now.saturating_duration_since(since) >= WINDOW {
            kept = self.finish();
            self.since = Some(now);
        }
        self.lines += 1;
        if self.lines <= MAX_LINES {
            kept.push(OutputItem::Line(line.to_owned()));
        } else {
            self.dropped += 1;
            self.last.clear();
            self.last.extend_from_slice(line);
        }
        kept
    }

    /// Ends the window; returns the count and the last line of those that were dropped in it.
    fn finish(&mut self) -> Vec<OutputItem> {
        let Self { dropped, last, .. } = std::mem::take(self);
        match dropped {
            0 => Vec::new(),
            1 => vec![OutputItem::Line(last)],
            more => vec![OutputItem::Dropped(more - 1), OutputItem::Line(last)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    async fn last_stderr(text: &str) -> Option<String> {
        let mut redaction = Redaction::default();
        redaction.add(&Secret::new("s3cret-value"), "***");
        let (watch, now) = (Watch::default(), Instant::now());
        listen_at(text.as_bytes(), &watch, &redaction, || now).await;
        watch.last_words()
    }

    #[tokio::test]
    async fn a_burst_of_lines_is_cut_and_counted() {
        let burst: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        assert_eq!(
            last_stderr(&burst).await.as_deref(),
            Some("line 199 | [799 lines dropped] | line 999")
        );
        assert_eq!(
            last_stderr(&format!("{burst}out of memory"))
                .await
                .as_deref(),
            Some("[799 lines dropped] | line 999 | out of memory")
        );
    }

    #[tokio::test]
    async fn a_secret_at_the_cut_is_removed_first() {
        let line = format!("{}s3cret-value tail\n", "x".repeat(MAX_KEPT_LINE_BYTES - 4));
        let words = last_stderr(&line).await.unwrap();
        assert!(!words.contains("s3cr"), "{words}");
        let endless = format!("{}s3cret-value\nbye\n", "x".repeat(MAX_LINE_BYTES));
        assert_eq!(
            last_stderr(&endless).await.as_deref(),
            Some("[a line of 16397 bytes] | bye")
        );
    }

    #[test]
    fn the_next_window_keeps_lines_again() {
        let (mut limit, start) = (LineLimit::default(), Instant::now());
        for _ in 0..MAX_LINES + 3 {
            limit.take(start, b"x");
        }
        let line = |text: &str| OutputItem::Line(text.as_bytes().to_owned());
        assert_eq!(
            limit.take(start + WINDOW, b"y"),
            [OutputItem::Dropped(2), line("x"), line("y")]
        );
    }
}
