//! The calls that the interpreter asks the engine to make.

use deft_model::{Choice, Object, StepType};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// An operation outside the machine: a step after its templates were rendered, or Python that only the worker
/// can evaluate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// Calls a tool.
    Tool {
        /// Name of the tool.
        tool: String,
        /// Rendered arguments.
        args: Object,
    },
    /// Runs the compute block of the step.
    Compute,
    /// Evaluates the condition of the step, if that needs the worker.
    Condition,
    /// Evaluates a post-condition of a result, if that needs the worker.
    Expect {
        /// Where the post-condition is declared.
        of: ExpectLevel,
    },
    /// Runs an agent.
    Agent {
        /// Rendered instructions.
        instructions: String,
    },
    /// Runs another skill.
    Skill {
        /// Id of the skill.
        skill: String,
        /// Rendered inputs.
        args: Object,
    },
    /// Waits for an instant.
    Wait {
        /// End of the wait.
        until: Timestamp,
    },
}

/// Where a post-condition is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpectLevel {
    /// In the step.
    Step,
    /// In the skill of the step.
    Skill,
}

/// The parts of a call that events report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallSummary<'a> {
    /// The tool that is called.
    pub tool: Option<&'a str>,
    /// The skill that is run.
    pub skill: Option<&'a str>,
    /// The arguments of the tool or skill.
    pub args: Option<&'a Object>,
    /// The end of a `wait:`.
    pub until: Option<Timestamp>,
}

impl Call {
    /// Returns the word for the call in events: the type of its step, or `condition` or `expect`.
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

    /// Returns the parts of the call that events report.
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

    /// Returns the end of a `wait:`. Such a call is not made: the run is parked until then.
    pub fn waits_until(&self) -> Option<Timestamp> {
        self.summary().until
    }

    /// Returns the tool and its arguments, if the call is a tool call.
    pub fn tool(&self) -> Option<(&str, &Object)> {
        match self {
            Self::Tool { tool, args } => Some((tool, args)),
            Self::Compute
            | Self::Condition
            | Self::Expect { .. }
            | Self::Agent { .. }
            | Self::Skill { .. }
            | Self::Wait { .. } => None,
        }
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

    /// Whether it evaluates a condition or post-condition and is not an attempt of the step.
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
