//! The calls that the interpreter asks the engine to make.

use deft_model::{Choice, Object, StepType};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Something to do outside the machine: what a step of some kind has become once its templates are
/// rendered, or Python that only the worker can judge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// A tool.
    Tool {
        /// Its name.
        tool: String,
        /// Rendered arguments.
        args: Object,
    },
    /// The compute block of the step.
    Compute,
    /// The condition of the step, where it needs the worker.
    Condition,
    /// The condition that a result must meet, where it needs the worker.
    Expect {
        /// Who expects it.
        of: ExpectLevel,
    },
    /// A model.
    Agent {
        /// Rendered instructions.
        instructions: String,
    },
    /// Another skill.
    Skill {
        /// Its id.
        skill: String,
        /// Rendered inputs.
        args: Object,
    },
    /// Time.
    Wait {
        /// When it is over.
        until: Timestamp,
    },
}

/// Who expects something of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectLevel {
    /// The step.
    Step,
    /// Its skill.
    Skill,
}

/// What events tell about a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallSummary<'a> {
    /// The tool that it calls.
    pub tool: Option<&'a str>,
    /// The skill that it runs.
    pub skill: Option<&'a str>,
    /// The arguments of either.
    pub args: Option<&'a Object>,
    /// The end of the time that it lets pass.
    pub until: Option<Timestamp>,
}

impl Call {
    /// The kind of step, as events spell it; a word of its own for what is no step.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Tool { .. } => StepType::Tool.word(),
            Self::Compute => StepType::Compute.word(),
            Self::Condition => "condition",
            Self::Expect { .. } => "expect",
            Self::Agent { .. } => StepType::Agent.word(),
            Self::Skill { .. } => StepType::Skill.word(),
            Self::Wait { .. } => StepType::Wait.word(),
        }
    }

    /// What events tell about it.
    pub fn summary(&self) -> CallSummary<'_> {
        let none = CallSummary::default();
        match self {
            Self::Tool { tool, args } => CallSummary {
                tool: Some(tool),
                args: Some(args),
                ..none
            },
            Self::Skill { skill, args } => CallSummary {
                skill: Some(skill),
                args: Some(args),
                ..none
            },
            Self::Wait { until } => CallSummary {
                until: Some(*until),
                ..none
            },
            Self::Compute | Self::Condition | Self::Expect { .. } | Self::Agent { .. } => none,
        }
    }

    /// The end of the time that it lets pass. Such a call is not made: the run is parked until then.
    pub fn waits_until(&self) -> Option<Timestamp> {
        self.summary().until
    }

    /// The tool that it calls, with its arguments.
    pub fn tool(&self) -> Option<(&str, &Object)> {
        let Self::Tool { tool, args } = self else {
            return None;
        };
        Some((tool, args))
    }

    /// Whether its Python is an expression, and not a block that sets `result`.
    pub fn is_expression(&self) -> bool {
        match self {
            Self::Condition | Self::Expect { .. } => true,
            Self::Tool { .. }
            | Self::Compute
            | Self::Agent { .. }
            | Self::Skill { .. }
            | Self::Wait { .. } => false,
        }
    }

    /// Whether it only judges something about a step and is no attempt of it.
    pub fn is_judgement(&self) -> bool {
        match self {
            Self::Condition | Self::Expect { .. } => true,
            Self::Tool { .. }
            | Self::Compute
            | Self::Agent { .. }
            | Self::Skill { .. }
            | Self::Wait { .. } => false,
        }
    }
}
