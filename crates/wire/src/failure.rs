//! Failures of requests, with a code for programs and a hint for people.
//!
//! Not here: failures of runs, which are `deft_model::Failure` and part of the run.

use std::fmt::Display;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A failure of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Who has to act.
    pub kind: FailureKind,
    /// A stable word for programs.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Who has to act on a failure. Front ends derive exit codes and HTTP statuses from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The caller must change the request, a file, a setting or the machine.
    Input,
    /// The request was understood and carried out, but its result is a failure.
    Unsuccessful,
    /// The caller stopped the request.
    Interrupted,
    /// deft itself failed; repeating the request may work.
    Internal,
}

/// Result of a request of a front end.
pub type Done<T> = Result<T, Failure>;

/// A failure, as printed by `--json` and sent in HTTP responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureDocument {
    /// Always `false`.
    pub ok: bool,
    /// The failure.
    pub error: FailureBody,
}

/// Content of [`FailureDocument::error`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureBody {
    /// A stable word for programs.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    /// Creates a failure that the caller must act on.
    pub fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Input, code, message)
    }

    /// Creates a failure of deft itself.
    pub fn internal(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(FailureKind::Internal, code, message)
    }

    fn new(kind: FailureKind, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into(),
            hint: None,
        }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the hint, if one is known.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Creates a failure for a file or folder that could not be used: "cannot `what` `path`".
    pub fn file(path: &Path, what: &str, problem: &std::io::Error) -> Self {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        let refused = matches!(problem.kind(), PermissionDenied | ReadOnlyFilesystem);
        let hint =
            "change its permissions (`ls -ld` shows them), or use another home with `--home DIR`";
        Self::unusable(path, what, problem).maybe_hint(refused.then(|| hint.to_owned()))
    }

    /// Like [`Failure::file`], for a problem that is not an I/O error.
    pub fn unusable(path: &Path, what: &str, problem: &dyn Display) -> Self {
        let message = format!("cannot {what} `{}`: {problem}", path.display());
        Self::input("file", message)
    }

    /// Returns the document that `--json` prints.
    pub fn document(&self) -> FailureDocument {
        FailureDocument {
            ok: false,
            error: FailureBody {
                code: self.code.to_owned(),
                message: self.message.clone(),
                hint: self.hint.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};

    use super::*;

    #[test]
    fn a_refused_file_has_a_hint() {
        let hint = |kind: ErrorKind| {
            let problem = Error::from(kind);
            Failure::file(Path::new("/home/x"), "open", &problem).hint
        };
        assert!(hint(ErrorKind::PermissionDenied).is_some());
        assert!(hint(ErrorKind::ReadOnlyFilesystem).is_some());
        assert_eq!(hint(ErrorKind::NotFound), None);
    }
}
