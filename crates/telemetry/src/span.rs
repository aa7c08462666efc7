//! Conversion of activities to spans: names, kinds and attributes. Pure functions.

use deft_model::{Choice, Failure, Outcome, SpanId, StopReason, TraceId, value_text};
use jiff::Timestamp;
use serde_json::json;

use crate::activity::{Activity, ModelTurn, Names, RunFacts, TraceOrigin, Work};
use crate::conventions::{attribute, operation, own, provider};

/// Maximum length of a text attribute, in bytes.
const MAX_TEXT: usize = 4096;

/// A completed span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    pub(crate) state: Option<String>,
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    pub(crate) attributes: Vec<(&'static str, AttributeValue)>,
    pub(crate) events: Vec<(Timestamp, &'static str)>,
    pub(crate) status: SpanStatus,
}

/// Role of a span in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanKind {
    Internal,
    Client,
}

/// Whether the activity failed; with the message if content is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpanStatus {
    Unset,
    Error(Option<String>),
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AttributeValue {
    Text(String),
    Integer(i64),
    Number(f64),
    Truth(bool),
    Texts(Vec<String>),
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(cut(text))
    }
}

impl From<u64> for AttributeValue {
    fn from(count: u64) -> Self {
        Self::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

/// Creates spans for the activities of one run.
pub struct SpanMaker<'a> {
    facts: &'a RunFacts,
    origin: TraceOrigin,
    names: &'a dyn Names,
    content: bool,
}

impl<'a> SpanMaker<'a> {
    /// Creates a maker for a run. With `content`, spans contain error messages.
    pub fn new(
        facts: &'a RunFacts,
        origin: TraceOrigin,
        names: &'a dyn Names,
        content: bool,
    ) -> Self {
        Self {
            facts,
            origin,
            names,
            content,
        }
    }

    /// Creates the span of an activity.
    pub fn make(&self, activity: &Activity) -> Span {
        let mut attributes = vec![
            (own::RUN, self.facts.id.as_str().into()),
            (own::SKILL, self.facts.skill.as_str().into()),
        ];
        if let Some(step) = &activity.step {
            attributes.push((own::STEP, step.as_str().into()));
            attributes.push((own::ATTEMPT, u64::from(activity.attempt).into()));
        }
        let (name, kind) = self.describe(activity, &mut attributes);
        if let Some(kind) = activity.error_type() {
            attributes.push((attribute::ERROR_TYPE, kind.into()));
        }
        let events = match &activity.work {
            Work::Run { recovered, .. } => {
                recovered.iter().map(|at| (*at, own::RECOVERED)).collect()
            }
            Work::Skill { .. }
            | Work::Compute
            | Work::Agent { .. }
            | Work::Model(_)
            | Work::Tool { .. } => Vec::new(),
        };
        let caller = self.origin.caller.as_ref();
        Span {
            trace: self.origin.trace,
            id: activity.span,
            parent: activity.parent,
            state: caller.and_then(|caller| caller.state.clone()),
            name,
            kind,
            start: activity.start,
            end: activity.end,
            attributes,
            events,
            status: self.status(activity),
        }
    }

    fn status(&self, activity: &Activity) -> SpanStatus {
        let failed = match &activity.work {
            Work::Run { outcome, .. } => !matches!(outcome, Outcome::Success | Outcome::Skipped),
            Work::Skill { .. }
            | Work::Compute
            | Work::Agent { .. }
            | Work::Model(_)
            | Work::Tool { .. } => activity.error.is_some(),
        };
        let message = |failure: &Failure| cut(&failure.message);
        let error = activity.error.as_ref().filter(|_| self.content);
        if failed {
            SpanStatus::Error(error.map(message))
        } else {
            SpanStatus::Unset
        }
    }

    /// Returns the name and the kind of a span, and adds the attributes specific to its activity.
    fn describe(&self, activity: &Activity, attributes: &mut Attributes) -> (String, SpanKind) {
        match &activity.work {
            Work::Run {
                outcome,
                has_agents,
                ..
            } => (
                self.run(*outcome, *has_agents, attributes),
                SpanKind::Internal,
            ),
            Work::Skill { name } => (format!("skill {name}"), SpanKind::Internal),
            Work::Compute => ("compute".to_owned(), SpanKind::Internal),
            Work::Agent { name, conversation } => {
                let doing = operation::INVOKE_AGENT;
                attributes.push((attribute::OPERATION, doing.into()));
                attributes.push((attribute::AGENT_NAME, name.as_str().into()));
                if let Some(conversation) = conversation {
                    attributes.push((attribute::CONVERSATION, conversation.as_str().into()));
                }
                (format!("{doing} {name}"), SpanKind::Internal)
            }
            Work::Model(turn) => (self.model(turn, attributes), SpanKind::Client),
            Work::Tool {
                tool,
                arguments,
                result,
                cached,
            } => {
                let content = [
                    (attribute::TOOL_ARGUMENTS, arguments),
                    (attribute::TOOL_RESULT, result),
                ];
                for (name, value) in content {
                    if let Some(value) = value {
                        attributes.push((name, value_text(value).as_str().into()));
                    }
                }
                if *cached {
                    attributes.push((own::CACHED, AttributeValue::Truth(true)));
                }
                self.tool(tool, attributes)
            }
        }
    }

    fn run(&self, outcome: Outcome, has_agents: bool, attributes: &mut Attributes) -> String {
        let facts = self.facts;
        let name = &facts.skill;
        attributes.push((own::REVISION, facts.revision.as_str().into()));
        attributes.push((own::TIER, facts.tier.word().into()));
        attributes.push((own::CAUSE, facts.cause.as_str().into()));
        attributes.push((own::OUTCOME, outcome.word().into()));
        if let Some(slot) = facts.slot {
            attributes.push((own::SLOT, slot.to_string().as_str().into()));
        }
        // The conventions reserve this operation for workflows that coordinate agents.
        if !(has_agents && facts.tier == deft_model::Tier::Workflow) {
            return format!("skill {name}");
        }
        let doing = operation::INVOKE_WORKFLOW;
        attributes.push((attribute::OPERATION, doing.into()));
        attributes.push((attribute::WORKFLOW_NAME, name.as_str().into()));
        format!("{doing} {name}")
    }

    fn model(&self, turn: &ModelTurn, attributes: &mut Attributes) -> String {
        let named = self.names.model(&turn.model);
        attributes.push((attribute::OPERATION, operation::CHAT.into()));
        attributes.push((attribute::PROVIDER, provider(&named.provider).into()));
        attributes.push((attribute::REQUEST_MODEL, named.model.as_str().into()));
        if let Some(usage) = turn.usage {
            attributes.push((attribute::INPUT_TOKENS, usage.input.into()));
            attributes.push((attribute::OUTPUT_TOKENS, usage.output.into()));
            if usage.cached > 0 {
                attributes.push((attribute::CACHE_READ_TOKENS, usage.cached.into()));
            }
            if usage.cache_write > 0 {
                attributes.push((attribute::CACHE_WRITE_TOKENS, usage.cache_write.into()));
            }
        }
        if let Some(cost) = turn.cost {
            attributes.push((own::COST, AttributeValue::Number(cost.dollars())));
        }
        if let Some(stop) = &turn.stop {
            let reasons = vec![finish_reason(stop).to_owned()];
            attributes.push((attribute::FINISH_REASONS, AttributeValue::Texts(reasons)));
        }
        if let Some(text) = &turn.text {
            let parts = json!([{"type": "text", "content": cut(text)}]);
            let messages = json!([{"role": "assistant", "parts": parts}]).to_string();
            attributes.push((attribute::OUTPUT_MESSAGES, AttributeValue::Text(messages)));
        }
        format!("{} {}", operation::CHAT, named.model)
    }

    /// Describes a tool call, which gets a single span: an MCP span if the tool is called over MCP, otherwise
    /// a tool span.
    fn tool(&self, tool: &str, attributes: &mut Attributes) -> (String, SpanKind) {
        let named = self.names.tool(tool);
        attributes.push((attribute::OPERATION, operation::EXECUTE_TOOL.into()));
        attributes.push((attribute::TOOL_NAME, named.tool.as_str().into()));
        attributes.push((own::SERVER, named.server.as_str().into()));
        if named.is_mcp {
            let method = operation::TOOLS_CALL;
            attributes.push((attribute::MCP_METHOD, method.into()));
            (format!("{method} {}", named.tool), SpanKind::Client)
        } else {
            attributes.push((attribute::TOOL_TYPE, "function".into()));
            let name = format!("{} {}", operation::EXECUTE_TOOL, named.tool);
            (name, SpanKind::Internal)
        }
    }
}

type Attributes = Vec<(&'static str, AttributeValue)>;

/// Returns the conventions' name for the reason why a model stopped.
fn finish_reason(stop: &StopReason) -> &str {
    match stop {
        StopReason::Done => "stop",
        StopReason::Calls => "tool_calls",
        StopReason::Length => "length",
        StopReason::Refused => "content_filter",
        StopReason::Other(word) => word,
    }
}

fn cut(text: &str) -> String {
    let mut cut = text.to_owned();
    cut.truncate(text.floor_char_boundary(MAX_TEXT));
    cut
}
