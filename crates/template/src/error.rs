//! The error type of both languages.
//!
//! Not here: excerpts of the source. The caller has the file and the position of the text in it.

use std::ops::Range;

/// A problem in a template or condition; `span` is a byte range in the given text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// The message: lower case, values in backticks, no full stop.
    pub message: String,
    /// The affected byte range, within the text and on character boundaries.
    pub span: Range<usize>,
    /// What to write instead, if known.
    pub hint: Option<String>,
}

impl SyntaxError {
    pub(crate) fn new(message: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            message: message.into(),
            span,
            hint: None,
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Rewrites a message of the Python parser in our style: lower case, no full stop.
pub fn house_style(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    let rest = chars.as_str().trim_end_matches('.');
    first.chain(rest.chars()).collect()
}
