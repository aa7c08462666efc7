//! The calls that the interpreter asks the engine to make.

use deft_model::Object;
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

impl Call {
    /// The kind of step, as events spell it; a word of its own for what is no step.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "tool",
            Self::Compute => "compute",
            Self::Condition => "condition",
            Self::Expect { .. } => "expect",
            Self::Agent { .. } => "agent",
            Self::Skill { .. } => "skill",
            Self::Wait { .. } => "wait",
        }
    }

    /// The tool that it calls, with its arguments.
    pub fn tool(&self) -> Option<(&str, &Object)> {
        let Self::Tool { tool, args } = self else {
            return None;
        };
        Some((tool, args))
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
