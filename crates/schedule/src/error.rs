//! The one error of this crate: what is wrong, where in the given text, and what to do about it.
//!
//! It knows neither files nor lines; callers move the span to where the text came from.

use std::ops::Range;

/// A trigger that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// The bytes of the given text that are at fault, when known.
    pub span: Option<Range<usize>>,
    /// What to do about it.
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

    pub(crate) fn at(mut self, span: Range<usize>) -> Error {
        self.span = Some(span);
        self
    }

    /// The same about a text of which the given one is the part from `start`.
    pub(crate) fn moved(mut self, start: usize) -> Error {
        self.span = self.span.map(|span| span.start + start..span.end + start);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Error {
        self.hint = Some(hint.into());
        self
    }
}

/// The text in backticks, cut when long so that a message stays one line.
pub(crate) fn quote(text: &str) -> String {
    let clean: String = deft_model::clip(text, 40)
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("`{clean}`")
}

/// The bytes of `text` without the white space around it.
pub(crate) fn trimmed(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + text.trim().len()
}
