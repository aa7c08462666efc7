//! What went wrong with a step or a run.

use serde::{Deserialize, Serialize};

use crate::{FailureClass, ProblemCode};

/// A failure with everything that policy and people need to know of it.
///
/// The code that saw the failure sets the class; no later code guesses it from the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of failure it is.
    pub class: FailureClass,
    /// A word for programs that says more than the class, such as `missing_flags`; it never changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ProblemCode>,
    /// What happened, in a sentence.
    pub message: String,
    /// What a person can do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// True when the call may have taken effect all the same.
    #[serde(default, skip_serializing_if = "is_false")]
    pub in_doubt: bool,
    /// True when nothing was tried, because a tool or its server is not there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocked: bool,
    /// True when the tool itself reported it in its answer (`isError`), so that the call as such worked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub reported: bool,
    /// What does not work, where other skills that use it fail as well. In a box, because failures are
    /// moved often and few of them are outages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Box<Outage>>,
    /// The scope of the budget of a day that does not suffice, such as `skill:mail@2026-11-15`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Box<str>>,
}

/// Something that skills share and that does not work.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outage {
    /// An MCP server cannot be reached.
    Server(String),
    /// A model cannot be asked.
    Model(String),
    /// No server offers a tool.
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
    /// A definite failure.
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

    /// The same failure with a code.
    #[must_use]
    pub fn code(mut self, code: ProblemCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The same failure with a remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure of a call that may have taken effect.
    #[must_use]
    pub fn in_doubt(mut self) -> Self {
        self.in_doubt = true;
        self
    }

    /// The same failure of a call that could not even be tried.
    #[must_use]
    pub fn blocked(mut self) -> Self {
        self.blocked = true;
        self
    }

    /// The same failure, which the tool itself reported in its answer.
    #[must_use]
    pub fn reported(mut self) -> Self {
        self.reported = true;
        self
    }

    /// The same failure, which concerns everything that uses the same thing.
    #[must_use]
    pub fn outage(mut self, outage: Outage) -> Self {
        self.outage = Some(Box::new(outage));
        self
    }

    /// The same failure because the budget of a day does not suffice.
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
