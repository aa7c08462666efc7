//! Compiled post-conditions (`expect:`), and the check of a value against them.
//!
//! Not here: which values of a run are checked against which post-conditions (`expect_checks.rs`).

use deft_model::{Expect, Failure, FailureClass};
use deft_template::{Condition, EvalError, EvalKind, Scope, SyntaxError};
use jsonschema::Validator;
use serde_json::Value;

use crate::call::ExpectLevel;

/// Maximum number of problems that one message lists.
const MAX_PROBLEMS: usize = 3;

/// Compiled post-conditions.
#[derive(Debug, Default)]
pub(crate) struct Expectation {
    called: Vec<String>,
    that: Option<Condition>,
    schema: Option<Validator>,
}

impl Expectation {
    pub(crate) fn compile(expect: Option<&Expect>) -> Result<Self, SyntaxError> {
        let Some(expect) = expect else {
            return Ok(Self::default());
        };
        let schema = expect.schema.as_ref().map(|schema| {
            let built = jsonschema::options().offline().build(schema);
            built.map_err(|error| SyntaxError {
                message: format!("`expect.schema` cannot be used: {}", error.masked()),
                span: 0..0,
                hint: None,
            })
        });
        Ok(Self {
            called: expect.called.clone(),
            that: expect.that.as_deref().map(Condition::parse).transpose()?,
            schema: schema.transpose()?,
        })
    }

    pub(crate) fn called_tools(&self) -> &[String] {
        &self.called
    }

    pub(crate) fn has_schema(&self) -> bool {
        self.schema.is_some()
    }

    pub(crate) fn mentions(&self, name: &str) -> bool {
        let mut names = self.that.iter().flat_map(Condition::names);
        names.any(|used| used.name == name)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.called.is_empty() && self.that.is_none() && self.schema.is_none()
    }

    /// Whether it is known to need the worker.
    pub(crate) fn has_unsupported(&self) -> bool {
        let mut that = self.that.iter();
        that.any(|that| that.first_unsupported().is_some())
    }

    /// Returns the source of the expression.
    pub(crate) fn that(&self) -> &str {
        self.that.as_ref().map_or("", Condition::source).trim()
    }

    /// Checks a value. `what` names the value in messages, `is_called` returns whether a tool was called
    /// successfully.
    pub(crate) fn check(
        &self,
        what: &str,
        is_called: impl Fn(&str) -> bool,
        value: &Value,
        scope: &dyn Scope,
    ) -> Result<(), ExpectProblem> {
        if let Some(tool) = self.called.iter().find(|tool| !is_called(tool)) {
            let message = format!("expected a successful call of `{tool}`; none was made");
            return Err(Failure::new(FailureClass::Invalid, message).into());
        }
        if let Some(schema) = &self.schema {
            check_schema(what, schema, value)?;
        }
        match &self.that {
            Some(that) => check_that(that, scope),
            None => Ok(()),
        }
    }
}

/// Why a value is not accepted, or not yet.
#[derive(Debug)]
pub(crate) enum ExpectProblem {
    /// The value breaks a post-condition.
    Breach(Failure),
    /// Only the worker can evaluate the post-condition.
    Unsupported(ExpectLevel),
}

impl From<Failure> for ExpectProblem {
    fn from(failure: Failure) -> Self {
        Self::Breach(failure)
    }
}

impl ExpectProblem {
    /// Sets where the post-condition is declared.
    pub(crate) fn with_level(self, level: ExpectLevel) -> Self {
        match self {
            Self::Unsupported(_) => Self::Unsupported(level),
            Self::Breach(failure) => Self::Breach(failure),
        }
    }
}

fn check_schema(what: &str, schema: &Validator, value: &Value) -> Result<(), Failure> {
    let problems = schema.iter_errors(value).take(MAX_PROBLEMS);
    // The value itself is left out: it may be long, and the journal has it anyway.
    let problems: Vec<String> = problems
        .map(|error| match error.instance_path().to_string() {
            place if place.is_empty() => error.masked_with("it").to_string(),
            place => format!("`{place}`: {}", error.masked_with("it")),
        })
        .collect();
    if problems.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{what} does not match `expect.schema`: {}",
        problems.join("; ")
    );
    Err(Failure::new(FailureClass::Invalid, message))
}

fn check_that(that: &Condition, scope: &dyn Scope) -> Result<(), ExpectProblem> {
    match that.is_true(scope) {
        Ok(true) => Ok(()),
        Ok(false) => Err(false_expectation_failure(that.source()).into()),
        Err(error) if matches!(error.kind, EvalKind::Unsupported) => {
            // The caller sets the right level.
            Err(ExpectProblem::Unsupported(ExpectLevel::Step))
        }
        Err(error) => {
            let source = that.source().trim();
            Err(invalid(&format!("expected `{source}`"), &error).into())
        }
    }
}

/// Returns the failure for an expression that is not true.
pub(crate) fn false_expectation_failure(source: &str) -> Failure {
    let message = format!("expected `{}`, and it is false", source.trim());
    Failure::new(FailureClass::Invalid, message)
}

pub(crate) fn invalid(what: &str, error: &EvalError) -> Failure {
    let message = format!("{what}: {}", error.message);
    let mut failure = Failure::new(FailureClass::Invalid, message);
    failure.hint.clone_from(&error.hint);
    failure
}
