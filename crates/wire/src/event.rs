//! Public events of a run (S3.30): the only public projection of stored events.
//!
//! The schema printed by `deft schema events` is derived from these types (`event_schema.rs`). Not here:
//! converting stored events to public ones (`deft_workflow::public`).

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::{FailureClass, Object, Outcome, RunId, Usd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::approval::{ApprovalAnswer, OperationView};
use crate::schema::{instant, seconds, words, words_or_null};

/// An event of a run.
///
/// When serialized, `type` comes first and the fields specific to the type come last, to make a line easy to
/// scan.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct EventView {
    /// Position of the event among all events of the store.
    pub seq: u64,
    #[schemars(schema_with = "instant")]
    pub at: Timestamp,
    /// Id of the run.
    #[schemars(with = "String")]
    pub execution_id: RunId,
    pub skill: String,
    #[serde(flatten)]
    pub body: EventBody,
}

impl Serialize for EventView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let Value::Object(fields) = serde_json::to_value(&self.body).map_err(S::Error::custom)?
        else {
            return Err(S::Error::custom("an event has fields"));
        };
        let mut shown = Object::new();
        shown.insert("type".to_owned(), Value::Null);
        shown.insert("seq".to_owned(), self.seq.into());
        shown.insert("at".to_owned(), self.at.to_string().into());
        shown.insert("execution_id".to_owned(), self.execution_id.as_str().into());
        shown.insert("skill".to_owned(), self.skill.as_str().into());
        shown.extend(fields);
        shown.serialize(serializer)
    }
}

/// Sent to a client that was too slow. Events after `seq` are sent again from the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResyncEvent {
    #[serde(rename = "type")]
    kind: ResyncWord,
    /// Last event that the client received.
    pub seq: u64,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResyncWord {
    Resync,
}

impl ResyncEvent {
    /// Creates the event for a client that received all events up to `seq`.
    pub fn new(seq: u64, at: Timestamp) -> Self {
        Self {
            kind: ResyncWord::Resync,
            seq,
            at,
        }
    }
}

/// The type-specific part of an event. The variant's name is the `type` of the event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// A run began.
    SkillStarted {
        inputs: Object,
        revision: String,
        /// Why the check before the run could not be made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(with = "String")]
        check_failed: Option<String>,
    },
    /// A step began.
    StepStarted(StepBegin),
    /// A step failed and will be tried again at `retry_at`.
    StepRetrying {
        step_id: String,
        attempt: u32,
        error: Option<FailureView>,
        #[schemars(schema_with = "instant")]
        retry_at: Timestamp,
    },
    /// A new attempt of a step began.
    StepRetried(StepBegin),
    /// A step ended.
    StepCompleted(StepEnd),
    /// A step was skipped.
    StepSkipped(StepSkip),
    /// An item of a loop began.
    ItemStarted(StepBegin),
    /// An item of a loop ended.
    ItemCompleted(StepEnd),
    /// An item of a loop was skipped.
    ItemSkipped(StepSkip),
    /// A heal rule was started, before the step is tried again.
    AutoHealTriggered {
        step_id: String,
        #[schemars(schema_with = "words::<FailureClass>")]
        failure_type: FailureClass,
        /// Tool called by the rule.
        action: String,
        args: Object,
        error: Option<FailureView>,
    },
    /// A heal rule ended.
    AutoHealCompleted {
        step_id: String,
        success: bool,
        error: Option<FailureView>,
        #[schemars(schema_with = "seconds")]
        duration: f64,
    },
    /// A person was asked for an approval.
    ConfirmationRequired(Confirmation),
    /// An approval was answered.
    ConfirmationAnswered(ConfirmationAnswer),
    /// Another process took over a run whose process had ended.
    SkillRecovered {
        /// Last sign of life of the process that ended.
        #[schemars(schema_with = "instant")]
        interrupted_at: Timestamp,
    },
    /// A person resumed an ended run.
    SkillResumed { by: String },
    /// A run succeeded.
    SkillCompleted {
        success: bool,
        outputs: Value,
        #[schemars(schema_with = "seconds")]
        duration: f64,
    },
    /// A run failed or was interrupted.
    SkillFailed(RunEnd),
    /// A run was skipped because it was not needed.
    SkillSkipped(RunEnd),
    /// A run was missed: it was due while deft was not running.
    SkillMissed(RunEnd),
    /// A run was blocked because something it needs is missing.
    SkillBlocked(RunEnd),
    /// A run was cancelled.
    SkillCancelled(RunEnd),
    /// An agent began.
    AgentStarted {
        agent: String,
        model: String,
        tools: Vec<String>,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// A model replied.
    ModelReplied {
        turn: u32,
        model: String,
        text: String,
        /// Number of calls requested by the reply.
        calls: usize,
        usage: ReplyUsage,
        #[schemars(schema_with = "seconds")]
        duration: f64,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// No model replied.
    ModelFailed {
        turn: u32,
        error: FailureView,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// deft answered a call itself, without calling a tool.
    ToolAnswered(ToolReason),
    /// deft refused a call.
    ToolRefused(ToolReason),
    /// A tool was called.
    ToolCalled {
        turn: u32,
        call: u32,
        tool: String,
        args: Object,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// A tool call returned.
    ToolReturned {
        turn: u32,
        call: u32,
        success: bool,
        result: Value,
        error: Option<FailureView>,
        #[schemars(schema_with = "seconds")]
        duration: f64,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// An agent started another agent.
    AgentDispatched {
        turn: u32,
        call: u32,
        agent: String,
        mission: String,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// A dispatched agent ended.
    AgentFinished {
        text: String,
        error: Option<FailureView>,
        #[serde(flatten)]
        place: AgentPlace,
    },
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureView {
    #[schemars(schema_with = "words::<FailureClass>")]
    pub class: FailureClass,
    pub message: String,
}

/// Beginning of a step or of a loop item.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepBegin {
    pub step_id: String,
    pub step_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub skill_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Object")]
    pub args: Option<Object>,
    /// End of the wait, for a step that waits for a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "instant")]
    pub until: Option<Timestamp>,
    /// Number of items, for a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub items: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub attempt: Option<u32>,
}

/// End of a step or of a loop item.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepEnd {
    pub step_id: String,
    pub success: bool,
    pub result: Value,
    pub error: Option<FailureView>,
    #[schemars(schema_with = "seconds")]
    pub duration: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub cached: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub reused: Option<bool>,
}

/// A skipped step or loop item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepSkip {
    pub step_id: String,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub reused: Option<bool>,
}

/// End of a run without success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEnd {
    pub error: Option<String>,
    pub step_id: Option<String>,
    #[schemars(schema_with = "words_or_null::<FailureClass>")]
    pub class: Option<FailureClass>,
    #[schemars(schema_with = "words::<Outcome>")]
    pub outcome: Outcome,
    #[schemars(schema_with = "seconds")]
    pub duration: f64,
}

/// An approval that was asked before a step or before a call of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Confirmation {
    /// Before a call of an agent.
    Call {
        turn: u32,
        call: u32,
        message: String,
        options: Vec<ApprovalAnswer>,
        operation: OperationView,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// Before a step.
    Step {
        step_id: String,
        message: String,
        options: Vec<ApprovalAnswer>,
        default: bool,
        operation: OperationView,
    },
}

/// The answer to an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ConfirmationAnswer {
    /// For a call of an agent.
    Call {
        turn: u32,
        call: u32,
        answer: ApprovalAnswer,
        by: String,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// For a step.
    Step {
        step_id: String,
        answer: ApprovalAnswer,
        by: String,
    },
}

/// The step that an agent works for, and the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentPlace {
    pub step_id: String,
    /// Path of the agent; absent for the agent of the step itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub agent_path: Option<String>,
}

/// Tokens and cost of a model's reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplyUsage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    #[schemars(with = "Option<f64>")]
    pub cost_usd: Option<Usd>,
}

/// Why deft answered or refused a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolReason {
    pub turn: u32,
    pub call: u32,
    pub tool: String,
    pub reason: String,
    #[serde(flatten)]
    pub place: AgentPlace,
}
