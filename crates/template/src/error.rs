//! The one error type of both languages.
//!
//! It does not draw source lines; the caller has the file and knows where the text sits in it.

use std::ops::Range;

/// A problem inside a template or condition; `span` is a byte range in the text that was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong: lower case, values in backticks, no full stop.
    pub message: String,
    /// Where it is, as a byte range that lies inside the text and on character boundaries.
    pub span: Range<usize>,
    /// What to write instead, when that is known.
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

/// A sentence of the Python parser the way ours are written: lower case, no full stop.
pub fn house_style(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().into_iter().flat_map(char::to_lowercase);
    let rest = chars.as_str().trim_end_matches('.');
    first.chain(rest.chars()).collect()
}
