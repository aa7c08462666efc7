//! Severities of diagnostics.

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Advice; the file is valid.
    Hint,
    /// The skill loads, but a part of it is invalid or ignored.
    Warning,
    /// The skill does not load.
    Error,
}

impl Severity {
    /// Returns the word for the severity.
    pub fn word(self) -> &'static str {
        match self {
            Self::Hint => "hint",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}
