//! Failures of steps and runs.

use serde::{Deserialize, Serialize};

use crate::{FailureClass, ProblemCode};

/// A failure, with everything that policies and people need to know about it.
///
/// The code that detects the failure sets the class; no later code guesses it from the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The kind of the failure.
    pub class: FailureClass,
    /// A stable word for programs, more specific than the class, such as `missing_flags`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ProblemCode>,
    /// One sentence that describes what happened.
    pub message: String,
    /// What a person can do about the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether the failed call may have taken effect.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_doubt: bool,
    /// Whether the call was not attempted, because a tool or its server is missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocked: bool,
    /// Whether the tool itself reported the failure in its answer (`isError`), so that the call as such
    /// succeeded.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reported: bool,
    /// The shared resource that is unavailable, so that other skills using it fail too. Boxed, because
    /// failures are moved often and few of them are outages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Box<Outage>>,
    /// The scope of the exhausted daily budget, such as `skill:mail@2026-11-15`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Box<str>>,
}

/// An unavailable resource that several skills share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outage {
    /// An MCP server cannot be reached.
    Server(String),
    /// A model is unavailable.
    Model(String),
    /// No server provides this tool.
    Tool(String),
    /// No model is configured.
    NoModel,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Failure {
    /// Creates a failure that had no effect.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            code: None,
            message: message.into(),
            hint: None,
            in_doubt: false,
            blocked: false,
            reported: false,
            outage: None,
            budget: None,
        }
    }

    /// Sets the code.
    #[must_use]
    pub fn code(mut self, code: ProblemCode) -> Self {
        self.code = Some(code);
        self
    }

    /// Sets the hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Marks the failed call as one that may have taken effect.
    #[must_use]
    pub fn in_doubt(mut self) -> Self {
        self.in_doubt = true;
        self
    }

    /// Marks the call as not attempted.
    #[must_use]
    pub fn mark_blocked(mut self) -> Self {
        self.blocked = true;
        self
    }

    /// Marks the failure as reported by the tool in its answer.
    #[must_use]
    pub fn mark_reported(mut self) -> Self {
        self.reported = true;
        self
    }

    /// Sets the unavailable resource.
    #[must_use]
    pub fn outage(mut self, outage: Outage) -> Self {
        self.outage = Some(Box::new(outage));
        self
    }

    /// Sets the scope of the exhausted daily budget.
    #[must_use]
    pub fn budget(mut self, scope: &str) -> Self {
        self.budget = Some(scope.into());
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
