//! The steps of a workflow.

use std::time::Duration;

use serde_json::Value;

use crate::choice::choice;
use crate::{Effects, Expect, Heal};

/// One step of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name inside the workflow.
    pub id: String,
    /// A line for people.
    pub description: Option<String>,
    /// What it does.
    pub kind: StepKind,
    /// A second name under which its value is visible.
    pub output: Option<String>,
    /// A Python expression; false skips the step.
    pub condition: Option<String>,
    /// What a failure means.
    pub on_error: OnError,
    /// The longest an attempt may take.
    pub timeout: Option<Duration>,
    /// Repeats the step over a list.
    pub repeat: Option<Loop>,
    /// Neighbours with the same group run together.
    pub parallel_group: Option<String>,
    /// The step waits for exactly these; absent means for all earlier ones.
    pub depends_on: Option<Vec<String>>,
    /// How long a result may be reused.
    pub cache: Option<Duration>,
    /// What repeating it would do.
    pub effects: Option<Effects>,
    /// Remedies for this step.
    pub heal: Vec<Heal>,
    /// How many remedies this step may take.
    pub max_heals: Option<u32>,
    /// Post-conditions of this step.
    pub expect: Option<Expect>,
}

impl Step {
    /// A step that only does something, with defaults for all the rest.
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

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum StepKind {
    /// Calls a tool.
    Tool {
        /// Its name, a template allowed.
        tool: String,
        /// Its arguments; texts may be templates.
        args: Value,
    },
    /// Runs a block of Python; `result` is the value.
    Compute {
        /// The source.
        code: String,
    },
    /// Lets a model work on instructions.
    Agent {
        /// What it is told, a template.
        instructions: String,
        /// The only tools it may call.
        tools: Vec<String>,
        /// The most turns it may take.
        max_steps: Option<u32>,
    },
    /// Runs another skill.
    Skill {
        /// Its id.
        skill: String,
        /// Its inputs; texts may be templates.
        args: Value,
    },
    /// Lets time pass.
    Wait(Wait),
}

/// How long a step waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A length of time such as `2h`, or a template that gives one.
    For(String),
    /// An instant, or a template that gives one.
    Until(String),
}

impl StepKind {
    /// The word for this kind of step, as events and files spell it.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Compute { .. } => "compute",
            Self::Agent { .. } => "agent",
            Self::Skill { .. } => "skill",
            Self::Wait(_) => "wait",
        }
    }
}

/// Repeats a step over a list (S3.16).
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The list: a template or a literal list.
    pub over: Value,
    /// The name of the item inside the step.
    pub var: String,
    /// How many items may be worked on at once.
    pub concurrency: Option<u32>,
}

/// What a failed step means for the run (S3.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// The run fails.
    Fail,
    /// The run goes on; the step's value is the error text.
    Continue,
    /// The step is tried again up to this many times.
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
    /// Its name under `inputs`.
    pub name: String,
    /// What kind of value it takes.
    pub kind: InputType,
    /// Whether it must be given.
    pub required: bool,
    /// What counts when it is not given.
    pub default: Option<Value>,
    /// A line for people.
    pub description: Option<String>,
    /// A regular expression that text must match.
    pub pattern: Option<String>,
    /// The only values allowed.
    pub choices: Vec<Value>,
    /// The most characters text may have.
    pub max_length: Option<u64>,
}

choice! {
    /// What kind of value an input takes.
    InputType {
        /// Text.
        String = "string",
        /// A day as text: `2026-03-01`.
        Date = "date",
        /// A whole number.
        Integer = "integer",
        /// Any number.
        Number = "number",
        /// True or false.
        Boolean = "boolean",
        /// A list.
        Array = "array",
        /// A mapping.
        Object = "object",
        /// Anything.
        Any = "any",
    }
}

/// A question that is asked before a step (S3.24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The step it stands before.
    pub step: String,
    /// What is asked, a template.
    pub message: String,
    /// The answer that is preselected.
    pub default: bool,
}
