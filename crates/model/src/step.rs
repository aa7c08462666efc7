//! The steps of a workflow.

use std::time::Duration;

use serde_json::Value;

use crate::choice::choice;
use crate::{Effects, Expect, Heal, StepKind};

/// One step of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The name of the step, unique in the workflow.
    pub id: String,
    /// A one-line description for people.
    pub description: Option<String>,
    /// The kind of the step with its arguments.
    pub kind: StepKind,
    /// A second name for the value of the step.
    pub output: Option<String>,
    /// A Python expression; false skips the step.
    pub condition: Option<String>,
    /// The reaction to a failure.
    pub on_error: OnError,
    /// Maximum duration of an attempt.
    pub timeout: Option<Duration>,
    /// The list over which the step is repeated.
    pub repeat: Option<Loop>,
    /// Consecutive steps of the same group run in parallel.
    pub parallel_group: Option<String>,
    /// The steps that must finish first; `None` means all earlier ones.
    pub depends_on: Option<Vec<String>>,
    /// How long a result may be reused.
    pub cache: Option<Duration>,
    /// The effects of repeating the step.
    pub effects: Option<Effects>,
    /// Heal rules of this step.
    pub heal: Vec<Heal>,
    /// Maximum number of heals of this step.
    pub max_heals: Option<u32>,
    /// Conditions for the success of this step.
    pub expect: Option<Expect>,
}

impl Step {
    /// Creates a step with defaults for everything except `id` and `kind`.
    pub fn new(id: impl Into<String>, kind: StepKind) -> Self {
        Self {
            id: id.into(),
            description: None,
            kind,
            output: None,
            condition: None,
            on_error: OnError::Fail,
            timeout: None,
            repeat: None,
            parallel_group: None,
            depends_on: None,
            cache: None,
            effects: None,
            heal: Vec::new(),
            max_heals: None,
            expect: None,
        }
    }
}

/// Repetition of a step over a list (S3.16).
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The list, or a template that renders to one.
    pub over: Value,
    /// The name of the current item inside the step.
    pub var: String,
    /// Maximum number of items processed in parallel.
    pub concurrency: Option<u32>,
}

/// The reaction of a run to a failed step (S3.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The run fails.
    Fail,
    /// The run continues; the value of the step is the error text.
    Continue,
    /// The step is retried up to this many times.
    Retry(u32),
}

impl std::fmt::Display for OnError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fail => f.write_str("fail"),
            Self::Continue => f.write_str("continue"),
            Self::Retry(times) => write!(f, "retry:{times}"),
        }
    }
}

/// A parameter of a workflow (S3.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The name under `inputs`.
    pub name: String,
    /// The type of the value.
    pub kind: InputType,
    /// Whether a value is required.
    pub required: bool,
    /// The value used if none is given.
    pub default: Option<Value>,
    /// A one-line description for people.
    pub description: Option<String>,
    /// A regular expression that a text must match.
    pub pattern: Option<String>,
    /// The allowed values; empty allows all.
    pub choices: Vec<Value>,
    /// Maximum number of characters of a text.
    pub max_length: Option<u64>,
}

choice! {
    /// The type of an input.
    InputType {
        /// Text.
        String = "string",
        /// A date as text: `2026-03-01`.
        Date = "date",
        /// A whole number.
        Integer = "integer",
        /// Any number.
        Number = "number",
        /// A boolean.
        Boolean = "boolean",
        /// A list.
        Array = "array",
        /// A mapping.
        Object = "object",
        /// Any value.
        Any = "any",
    }
}

/// A question to a person before a step (S3.24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The id of the step.
    pub step: String,
    /// The question, a template.
    pub message: String,
    /// The preselected answer.
    pub default: bool,
}

impl InputType {
    /// Whether a value is of this type. The caller tells dates, because this crate has no calendar.
    pub fn fits(self, value: &Value, is_date: impl FnOnce(&str) -> bool) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Date => value.as_str().is_some_and(is_date),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
            Self::Any => true,
        }
    }
}
