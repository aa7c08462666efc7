//! What can go wrong while a template is rendered or a condition evaluated.
//!
//! It does not say which step or file the text belongs to; the caller knows.

use std::ops::Range;

/// An error of rendering or evaluation; `span` is a byte range in the text that was parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// What is wrong: values in backticks, no full stop; Python's own words where it has some.
    pub message: String,
    /// The part of the text that could not be evaluated, on character boundaries.
    pub span: Range<usize>,
    /// What to write instead, when that is known.
    pub hint: Option<String>,
    /// What sort of error it is.
    pub kind: EvalKind,
}

/// Sorts of [`EvalError`], for callers that treat them differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalKind {
    /// A value that does not exist is needed.
    Undefined {
        /// The name or path that has no value.
        name: String,
    },
    /// A value is of the wrong type for what is done with it, or a secret is looked into.
    Type,
    /// It takes too many operations, or a result is too large.
    Limit,
    /// The text is fine, but takes a full Python to evaluate.
    Unsupported,
    /// Any other error that Python or Jinja would raise too.
    Other,
}

/// An error before its place is known; the innermost expression puts its span on it.
#[derive(Clone, Debug)]
pub struct Fault(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    message: String,
    hint: Option<String>,
    kind: EvalKind,
    span: Option<Range<usize>>,
}

/// The result of anything that can fail while evaluating.
pub type Outcome<T> = Result<T, Fault>;

impl Fault {
    fn new(kind: EvalKind, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            message: message.into(),
            hint: None,
            kind,
            span: None,
        }))
    }

    /// What Python calls a `TypeError` or an `AttributeError`.
    #[cold]
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::new(EvalKind::Type, message)
    }

    /// What Python calls a `ValueError`, `KeyError`, `ZeroDivisionError`, …
    #[cold]
    pub fn other(message: impl Into<String>) -> Self {
        Self::new(EvalKind::Other, message)
    }

    /// A budget is used up, or a result is too large.
    #[cold]
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(EvalKind::Limit, message)
    }

    /// Something that is right in Python and that only a full Python can do.
    #[cold]
    pub fn unsupported(what: impl AsRef<str>) -> Self {
        Self::new(
            EvalKind::Unsupported,
            format!("{} is not supported here", what.as_ref()),
        )
    }

    /// A value that does not exist is needed.
    #[cold]
    pub fn undefined(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(EvalKind::Undefined { name: name.into() }, message)
    }

    /// A secret is changed or looked into.
    #[cold]
    pub fn secret() -> Self {
        Self::type_error("a secret cannot be changed or looked into")
            .with_hint("pass it on as it is")
    }

    /// Adds the remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Puts a place on the error, unless it has one.
    #[must_use]
    pub fn with_span(mut self, span: &Range<usize>) -> Self {
        self.0.span.get_or_insert_with(|| span.clone());
        self
    }

    /// The error for the caller, with its place inside `source`.
    pub fn finish(self, source: &str) -> EvalError {
        let parts = *self.0;
        EvalError {
            message: parts.message,
            span: clamp(source, &parts.span.unwrap_or(0..source.len())),
            hint: parts.hint,
            kind: parts.kind,
        }
    }
}

/// Moves a range into `text` and widens it to character boundaries.
pub fn clamp(text: &str, span: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(span.start);
    let end = text.ceil_char_boundary(span.end.max(start));
    start..end
}
