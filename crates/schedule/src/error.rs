//! The error type of this crate: a message, the position in the parsed text, and a hint.
//!
//! Spans refer to the parsed text, not to files or lines; callers translate them.

use std::ops::Range;

/// A schedule, time or duration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The problem, in lower case and without a full stop.
    pub message: String,
    /// The byte range of the problem in the parsed text, if known.
    pub span: Option<Range<usize>>,
    /// What to do about the problem.
    pub hint: Option<String>,
}

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            span: None,
            hint: None,
        }
    }

    pub(crate) fn with_span(mut self, span: Range<usize>) -> Error {
        self.span = Some(span);
        self
    }

    /// Shifts the span by `start`, for a parsed text that begins at `start` of a longer one.
    pub(crate) fn shift(mut self, start: usize) -> Error {
        self.span = self.span.map(|span| span.start + start..span.end + start);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }
}

/// Puts `text` in backticks, truncated so that a message stays on one line.
pub(crate) fn quote(text: &str) -> String {
    let clean: String = deft_model::clip(text, 40)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("`{clean}`")
}

/// Returns the byte range of `text` without surrounding white space.
pub(crate) fn trimmed_range(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + text.trim().len()
}
