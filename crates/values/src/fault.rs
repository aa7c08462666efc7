//! Errors of rendering templates and evaluating conditions.
//!
//! They do not name the step or file of the text; the caller adds these.

use std::ops::Range;

/// An error of rendering or evaluation; `span` is a byte range in the text that was parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    /// The message: values in backticks, no full stop; Python's own wording if it has one.
    pub message: String,
    /// The part of the text that failed, on character boundaries.
    pub span: Range<usize>,
    /// What to write instead, if known.
    pub hint: Option<String>,
    /// The kind of error.
    pub kind: EvalKind,
}

/// Kinds of [`EvalError`], for callers that handle them differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalKind {
    /// A required value does not exist.
    Undefined {
        /// The name or path without a value.
        name: String,
    },
    /// A value has the wrong type for an operation, or an operation reads a secret.
    Type,
    /// The evaluation takes too many operations, or a result is too large.
    Limit,
    /// The text is valid, but evaluating it requires full Python.
    Unsupported,
    /// Any other error that Python or Jinja would raise too.
    Other,
}

/// An error without its final span; the innermost expression sets the span.
#[derive(Clone, Debug)]
pub struct Fault(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    message: String,
    hint: Option<String>,
    kind: EvalKind,
    span: Option<Range<usize>>,
}

/// The result of a step of evaluation.
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

    /// Returns the equivalent of Python's `TypeError` or `AttributeError`.
    #[cold]
    pub fn type_error(message: impl Into<String>) -> Self {
        Self::new(EvalKind::Type, message)
    }

    /// Returns the equivalent of Python's `ValueError`, `KeyError`, `ZeroDivisionError`, …
    #[cold]
    pub fn other(message: impl Into<String>) -> Self {
        Self::new(EvalKind::Other, message)
    }

    /// A budget is used up, or a result is too large.
    #[cold]
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(EvalKind::Limit, message)
    }

    /// Returns the error for valid Python that requires a full interpreter.
    #[cold]
    pub fn unsupported_python(what: impl AsRef<str>) -> Self {
        Self::new(
            EvalKind::Unsupported,
            format!("{} is not supported here", what.as_ref()),
        )
    }

    /// A value that does not exist is needed.
    #[cold]
    pub fn undefined_name(name: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(EvalKind::Undefined { name: name.into() }, message)
    }

    /// A secret is changed or looked into.
    #[cold]
    pub fn secret() -> Self {
        Self::type_error("a secret cannot be changed or read")
            .with_hint("pass it to a tool unchanged")
    }

    /// Adds the remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Sets the span, unless it is already set.
    #[must_use]
    pub fn with_span(mut self, span: &Range<usize>) -> Self {
        self.0.span.get_or_insert_with(|| span.clone());
        self
    }

    /// Converts the fault to an [`EvalError`] with a span inside `source`.
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
