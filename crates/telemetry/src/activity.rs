//! Activities: what a run did, as input for spans and metrics. Each activity is emitted once, when it has
//! ended.

use deft_model::{
    Failure, Outcome, RunId, SpanId, StopReason, Tier, TokenUsage, TraceContext, TraceId, Usd,
};
use jiff::Timestamp;
use serde_json::Value;

use std::sync::Arc;

/// Facts about a run that are not in its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// Id of the run.
    pub id: RunId,
    /// Name of its skill.
    pub skill: String,
    /// The pinned revision.
    pub revision: String,
    /// How the skill runs.
    pub tier: Tier,
    /// What fired the run.
    pub cause: String,
    /// Slot of the run.
    pub slot: Option<Timestamp>,
}

/// A completed activity of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Id of its span.
    pub span: SpanId,
    /// Id of the parent span.
    pub parent: Option<SpanId>,
    /// When the activity began.
    pub start: Timestamp,
    /// When the activity ended.
    pub end: Timestamp,
    /// Path of the step; `None` for the run itself.
    pub step: Option<String>,
    /// Attempt of the step.
    pub attempt: u32,
    /// Why the activity failed.
    pub error: Option<Failure>,
    /// Kind of the activity, with its details.
    pub work: Work,
}

/// Kind of an activity, with its details.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// The run itself.
    Run {
        /// Outcome of the run.
        outcome: Outcome,
        /// Whether the run used agents.
        has_agents: bool,
        /// When other processes took over the run.
        recovered: Vec<Timestamp>,
    },
    /// A nested skill.
    Skill {
        /// Id of the skill.
        name: String,
    },
    /// A compute block.
    Compute,
    /// An agent.
    Agent {
        /// Name of the agent.
        name: String,
        /// Id of the conversation that the agent continues.
        conversation: Option<String>,
    },
    /// A model request.
    Model(ModelTurn),
    /// A call of a tool.
    Tool {
        /// Name of the tool, as the caller wrote it.
        tool: String,
        /// Arguments, if content is recorded.
        arguments: Option<Value>,
        /// Result, if content is recorded.
        result: Option<Value>,
        /// Whether an earlier result was reused instead of calling the tool.
        cached: bool,
    },
}

/// A model request and its reply.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelTurn {
    /// Name of the model in the configuration.
    pub model: String,
    /// Tokens used.
    pub usage: Option<TokenUsage>,
    /// Cost, if known.
    pub cost: Option<Usd>,
    /// Why the model stopped.
    pub stop: Option<StopReason>,
    /// Text of the reply, if content is recorded.
    pub text: Option<String>,
}

/// The trace that a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOrigin {
    /// Id of the trace.
    pub trace: TraceId,
    /// Trace context of the caller, if it sent one.
    pub caller: Option<Arc<TraceContext>>,
}

impl TraceOrigin {
    /// Whether to record the trace: as the caller decides, or always without a caller.
    pub fn is_sampled(&self) -> bool {
        self.caller.as_ref().is_none_or(|caller| caller.is_sampled)
    }
}

impl Activity {
    /// Returns the duration in seconds.
    pub fn seconds(&self) -> f64 {
        self.end.duration_since(self.start).as_secs_f64().max(0.0)
    }

    /// Returns the error type, as named by the OpenTelemetry conventions.
    pub(crate) fn error_type(&self) -> Option<&str> {
        let error = self.error.as_ref()?;
        let is_tool = matches!(self.work, Work::Tool { .. });
        Some(if is_tool && error.reported {
            crate::conventions::TOOL_ERROR
        } else {
            deft_model::Choice::word(error.class)
        })
    }
}

/// Resolves names in a journal.
pub trait Names {
    /// Returns the tool that a name refers to.
    fn tool(&self, name: &str) -> ToolName;

    /// Returns the model with this name in the configuration.
    fn model(&self, name: &str) -> ModelName;
}

/// A tool and its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolName {
    /// Name of the server; `deft` for built-in tools.
    pub server: String,
    /// Name of the tool on the server.
    pub tool: String,
    /// Whether the tool is called over MCP.
    pub is_mcp: bool,
}

/// A model and its provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// Name of the model at the provider.
    pub model: String,
}
