//! What a run did, as spans and metrics need it: each activity once, when it is over.

use deft_model::{
    Failure, Outcome, RunId, SpanId, StopReason, Tier, TokenUsage, TraceContext, TraceId, Usd,
};
use jiff::Timestamp;
use serde_json::Value;

use std::sync::Arc;

/// Facts about a run that its journal does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFacts {
    /// The run.
    pub id: RunId,
    /// Its skill.
    pub skill: String,
    /// The pinned revision.
    pub revision: String,
    /// How the skill runs.
    pub tier: Tier,
    /// What fired it.
    pub cause: String,
    /// The planned instant that it answers to.
    pub slot: Option<Timestamp>,
}

/// Something that a run did, and that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Activity {
    /// Its span.
    pub span: SpanId,
    /// The span around it.
    pub parent: Option<SpanId>,
    /// When it began.
    pub start: Timestamp,
    /// When it was over.
    pub end: Timestamp,
    /// The step it belongs to; none for the run itself.
    pub step: Option<String>,
    /// Which try of the step.
    pub attempt: u32,
    /// Why it failed.
    pub error: Option<Failure>,
    /// What it was.
    pub work: Work,
}

/// What an activity was.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// The run itself.
    Run {
        /// How it ended.
        outcome: Outcome,
        /// Whether agents took part.
        has_agents: bool,
        /// When another process continued it.
        recovered: Vec<Timestamp>,
    },
    /// A skill inside the run.
    Skill {
        /// Its id.
        name: String,
    },
    /// A compute block.
    Compute,
    /// An agent.
    Agent {
        /// Its name.
        name: String,
        /// The conversation that it continues.
        conversation: Option<String>,
    },
    /// A question to a model.
    Model(ModelTurn),
    /// A call of a tool.
    Tool {
        /// The tool, as the caller named it.
        tool: String,
        /// Its arguments, where content is wanted.
        arguments: Option<Value>,
        /// Its result, where content is wanted.
        result: Option<Value>,
        /// Whether an earlier result was used, so that nothing was called.
        cached: bool,
    },
}

/// A question to a model.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ModelTurn {
    /// The model, by the name in the configuration.
    pub model: String,
    /// What it took.
    pub usage: Option<TokenUsage>,
    /// What it cost, if that is known.
    pub cost: Option<Usd>,
    /// Why it stopped.
    pub stop: Option<StopReason>,
    /// What it said, where content is wanted.
    pub text: Option<String>,
}

/// The trace that a run belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOrigin {
    /// The trace.
    pub trace: TraceId,
    /// The caller, if it traces.
    pub caller: Option<Arc<TraceContext>>,
}

impl TraceOrigin {
    /// Whether the caller wants the trace recorded; a run without one is recorded.
    pub fn is_sampled(&self) -> bool {
        self.caller.as_ref().is_none_or(|caller| caller.is_sampled)
    }
}

impl Activity {
    /// How long it took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.end.duration_since(self.start).as_secs_f64().max(0.0)
    }

    /// The type of its error in the words of the conventions.
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

/// Names behind the names of a journal.
pub trait Names {
    /// The tool that a name means.
    fn tool(&self, name: &str) -> ToolName;

    /// The model behind a name of the configuration.
    fn model(&self, name: &str) -> ModelName;
}

/// A tool and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolName {
    /// The server; `deft` for built-in tools.
    pub server: String,
    /// Its name there.
    pub tool: String,
    /// Whether it is called over MCP.
    pub is_mcp: bool,
}

/// A model and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    /// The provider, in the word of the configuration.
    pub provider: String,
    /// What the provider calls it.
    pub model: String,
}
