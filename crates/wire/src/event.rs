//! What happens in a run, as the outside sees it (S3.30): the one public projection of stored events.
//!
//! The schema that `deft schema events` prints is derived from these types (`event_schema.rs`).
//! Not here: how a stored event becomes a public one (`deft_workflow::public`).

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
/// `type` comes first and the fields of the type last, so that people find both in a line.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct EventView {
    /// Its place among all events of the store.
    pub seq: u64,
    #[schemars(schema_with = "instant")]
    pub at: Timestamp,
    /// The run.
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

/// A client of a feed was too slow: events behind `seq` are sent again from the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResyncEvent {
    #[serde(rename = "type")]
    kind: ResyncWord,
    /// The last event that the client got.
    pub seq: u64,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResyncWord {
    Resync,
}

impl ResyncEvent {
    /// The event for a client that got everything up to `seq`.
    pub fn new(seq: u64, at: Timestamp) -> Self {
        Self {
            kind: ResyncWord::Resync,
            seq,
            at,
        }
    }
}

/// What happened. The word of a variant is the `type` of the event.
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
    /// A step failed and is tried again at an instant.
    StepRetrying {
        step_id: String,
        attempt: u32,
        error: Option<FailureView>,
        #[schemars(schema_with = "instant")]
        retry_at: Timestamp,
    },
    /// A step is tried again.
    StepRetried(StepBegin),
    /// A step ended.
    StepCompleted(StepEnd),
    /// A step was left out.
    StepSkipped(StepSkip),
    /// An item of a loop began.
    ItemStarted(StepBegin),
    /// An item of a loop ended.
    ItemCompleted(StepEnd),
    /// An item of a loop was left out.
    ItemSkipped(StepSkip),
    /// A remedy is tried before a step is tried again.
    AutoHealTriggered {
        step_id: String,
        #[schemars(schema_with = "words::<FailureClass>")]
        failure_type: FailureClass,
        /// The tool that is called.
        action: String,
        args: Object,
        error: Option<FailureView>,
    },
    /// A remedy ended.
    AutoHealCompleted {
        step_id: String,
        success: bool,
        error: Option<FailureView>,
        #[schemars(schema_with = "seconds")]
        duration: f64,
    },
    /// A person is asked.
    ConfirmationRequired(Confirmation),
    /// The question was answered.
    ConfirmationAnswered(ConfirmationAnswer),
    /// Another process continues a run whose process ended.
    SkillRecovered {
        /// The last sign of the process that ended.
        #[schemars(schema_with = "instant")]
        interrupted_at: Timestamp,
    },
    /// A person lets an ended run continue.
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
    /// A run was not needed.
    SkillSkipped(RunEnd),
    /// A run was due while deft was not running.
    SkillMissed(RunEnd),
    /// A run could not continue because something was missing.
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
        /// How many calls the reply asks for.
        calls: usize,
        usage: ReplyUsage,
        #[schemars(schema_with = "seconds")]
        duration: f64,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// No model gave an answer.
    ModelFailed {
        turn: u32,
        error: FailureView,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// deft answered a call itself.
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
    /// A call ended.
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
    /// An agent that was dispatched ended.
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

/// A step or item begins.
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
    /// Until when it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "instant")]
    pub until: Option<Timestamp>,
    /// How many items a loop has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "usize")]
    pub items: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32")]
    pub attempt: Option<u32>,
}

/// A step or item ends.
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

/// A step or item is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepSkip {
    pub step_id: String,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub reused: Option<bool>,
}

/// A run ends without success.
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

/// A question, before a step or before a call of an agent.
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

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ConfirmationAnswer {
    /// About a call of an agent.
    Call {
        turn: u32,
        call: u32,
        answer: ApprovalAnswer,
        by: String,
        #[serde(flatten)]
        place: AgentPlace,
    },
    /// About a step.
    Step {
        step_id: String,
        answer: ApprovalAnswer,
        by: String,
    },
}

/// Where an agent works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentPlace {
    pub step_id: String,
    /// Which agent, if it was started by another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub agent_path: Option<String>,
}

/// What a reply of a model took.
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
