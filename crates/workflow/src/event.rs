//! The recorded events of a run. They suffice to rebuild a [`Machine`] without evaluating anything again:
//! they contain rendered arguments, condition results, loop lists, retry times and what follows each failure.
//!
//! [`Machine`]: crate::Machine

use std::sync::Arc;

use deft_model::{
    Authority, Effects, EventType, Failure, FailureClass, Object, Outcome, RunOrigin,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Path;
use crate::call::{Call, ExpectLevel};

/// A recorded change of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The parameters of a run that another process may begin.
    Prepared(RunPreparation),
    /// The run began.
    Started(RunStart),
    /// The result of a step was taken over from an earlier run (`rerun --from`).
    Reused {
        /// The step.
        path: Path,
        /// The value of the step; `None` if it was skipped.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        value: Option<Value>,
        /// The failure of the step, if it was tolerated.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// Tools that the step called successfully, for `expect: {called: …}`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        called: Vec<String>,
    },
    /// A step or an item was skipped.
    Skipped {
        /// The step or item.
        path: Path,
        /// Why it was skipped.
        reason: String,
    },
    /// The list of a loop was rendered.
    Listed {
        /// The step.
        path: Path,
        /// Type of the step that runs for each item: `tool`, `compute`, …
        step_type: String,
        /// The items.
        items: Vec<Value>,
    },
    /// A person was asked before a step.
    Asked {
        /// The step.
        path: Path,
        /// The question.
        message: String,
        /// The preselected answer.
        default: bool,
        /// What the step would do, as far as it is known.
        operation: Operation,
    },
    /// The question was answered.
    Answered {
        /// The step.
        path: Path,
        /// The answer.
        answer: Answer,
        /// Who answered.
        by: String,
    },
    /// A call is about to be made. Stored before it is made.
    Begun(CallIntent),
    /// A call succeeded or failed.
    Ended(CallEnd),
    /// An event of the agent of a running step.
    Agent {
        /// The step or item.
        path: Path,
        /// The event.
        event: Box<deft_agent::Event>,
    },
    /// A heal rule was applied.
    Healed {
        /// The step or item that failed.
        path: Path,
        /// Why the heal failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// What follows.
        next: Next,
        /// Duration in milliseconds.
        ms: u64,
    },
    /// A wait before a retry has ended.
    Woken {
        /// The step or item.
        path: Path,
    },
    /// A nested skill begins, with its revision pinned.
    Entered {
        /// The step or item that runs it.
        path: Path,
        /// Revision of the nested skill.
        revision: String,
        /// Checked inputs of the nested skill.
        inputs: Object,
        /// Deadline of the nested skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A nested skill that failed is resumed where it failed, by another try of its step.
    Continued {
        /// The step or item that runs it.
        path: Path,
        /// Number of the try.
        attempt: u32,
        /// Deadline of the nested skill.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The deadline of a nested skill has passed: everything inside it stops.
    Expired {
        /// The step or item that runs it.
        path: Path,
        /// The failure of the steps inside and of the step that runs the skill: class `timeout`.
        failure: Failure,
    },
    /// All items of a loop have ended.
    Closed {
        /// The step.
        path: Path,
        /// The values of the items in order; null for an item that was skipped or never begun.
        values: Vec<Value>,
        /// Why the loop failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// Duration of the loop in milliseconds.
        ms: u64,
    },
    /// The run stops: a person cancelled it, its deadline has passed, or it cannot be carried out.
    Stopped {
        /// Why it stops, for example class `cancelled` or `timeout`.
        failure: Failure,
    },
    /// Another process continues the run, because the process that drove it died.
    Recovered {
        /// When the dead process was last known to be alive.
        interrupted_at: Timestamp,
    },
    /// A person resumed an ended run.
    Resumed {
        /// Who resumed it.
        by: String,
    },
    /// The run ended.
    Finished(RunEnd),
}

/// The parameters of a queued run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPreparation {
    /// The folder or project that the run works on.
    pub workspace_uri: String,
    /// Makes the placeholders of secrets unguessable.
    pub nonce: String,
    /// Results taken over from steps of an earlier run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<Event>,
    /// Why the preflight check failed to run, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_failed: Option<String>,
    /// The rights of the agent that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Arc<Authority>>,
    /// The request that started the run.
    #[serde(default, skip_serializing_if = "RunOrigin::is_unknown")]
    pub origin: RunOrigin,
}

/// The parameters of a run that began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// The skill.
    pub skill: String,
    /// Pinned revision of the skill.
    pub revision: String,
    /// Id of the run.
    pub execution_id: String,
    /// The folder or project that the run works on.
    pub workspace_uri: String,
    /// Checked inputs.
    pub inputs: Object,
    /// Makes the placeholders of secrets unguessable.
    pub nonce: String,
    /// Why the preflight check failed to run, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_failed: Option<String>,
    /// The rights of the agent that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Arc<Authority>>,
    /// The request that started the run.
    #[serde(default, skip_serializing_if = "RunOrigin::is_unknown")]
    pub origin: RunOrigin,
}

/// The operation that a question is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Operation {
    /// The kind of the step: `tool`, `compute`, …
    pub kind: String,
    /// The tool or skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arguments, if they are known before the step begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The tool, if a person may approve all of its calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<ToolMark>,
}

/// A tool as its server described it when a person was asked about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMark {
    /// Full name of the tool.
    pub tool: String,
    /// Hash of the tool's description by its server.
    pub digest: String,
}

impl Operation {
    /// Whether it says exactly what would be done: it names a tool or skill with all arguments, or the step
    /// has no arguments and is part of the skill.
    pub fn is_exact(&self) -> bool {
        match self.kind.as_str() {
            "tool" | "skill" => self.name.is_some() && self.args.is_some(),
            _ => true,
        }
    }
}

/// An answer to a question before a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Do the step.
    Yes,
    /// Do not do the step, and stop the run.
    No,
    /// Skip the step and continue the run.
    Skip,
}

/// The intent to make a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallIntent {
    /// The step or item.
    pub path: Path,
    /// 1 for the first try.
    pub attempt: u32,
    /// The call.
    pub call: Arc<Call>,
    /// What repeating the call would do.
    pub effects: Effects,
}

/// How a call ended and what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallEnd {
    /// The step or item.
    pub path: Path,
    /// Number of the try; 0 if it failed before anything was called.
    pub attempt: u32,
    /// The value; shared with the machine, so that a large one is never copied.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub value: Option<Arc<Value>>,
    /// The failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// What follows.
    pub next: Next,
    /// Whether a cached result was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Tools that the agent of the step called successfully, for `expect: {called: …}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called: Vec<String>,
    /// Duration of the try in milliseconds; for the last try of a step, the duration of the step with all
    /// tries.
    pub ms: u64,
}

/// What follows the end of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The step or item succeeded.
    Done,
    /// The worker has evaluated the condition of the step, which now begins or is skipped.
    Judged,
    /// The call returned a value, and the worker has to check a post-condition.
    Verify {
        /// Where the post-condition is declared.
        of: ExpectLevel,
    },
    /// The call is retried at an instant.
    Retry {
        /// When it is retried.
        at: Timestamp,
    },
    /// A tool or server that the call needs is missing: the call waits until it is back, or until an instant
    /// at the latest. This does not use up a retry.
    #[serde(rename = "wait")]
    Postponed {
        /// The end of the wait at the latest.
        at: Timestamp,
    },
    /// A heal rule is applied before the next try.
    Heal(Arc<Heal>),
    /// The failure is tolerated.
    Tolerate,
    /// The run fails.
    Fail,
    /// The call may have taken effect and must not be repeated without asking a person.
    Interrupt,
    /// A tool or server is missing.
    Block,
}

impl Next {
    /// Whether the try was the last one of its step or item.
    pub fn is_last(&self) -> bool {
        match self {
            Self::Done | Self::Tolerate | Self::Fail | Self::Interrupt | Self::Block => true,
            Self::Judged
            | Self::Verify { .. }
            | Self::Retry { .. }
            | Self::Postponed { .. }
            | Self::Heal(_) => false,
        }
    }
}

/// One application of a heal rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heal {
    /// 1 for the first heal of this step or item.
    pub ordinal: u32,
    /// Class of the failure to repair.
    pub class: FailureClass,
    /// The tool that repairs the failure.
    pub tool: String,
    /// Rendered arguments.
    pub args: Object,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// The outputs of the run.
    pub outputs: Value,
    /// Why the run did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// Duration of the run in milliseconds.
    pub ms: u64,
}

impl RunEnd {
    /// The failure that ended the run, if any.
    pub fn failure(&self) -> Option<&Failure> {
        self.error.as_ref().map(|error| &error.failure)
    }
}

/// Why a run did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// The failure.
    #[serde(flatten)]
    pub failure: Failure,
    /// The step or item that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Path>,
}

/// Deserializes a field that is present, even if it is null. A missing field is `None`.
fn present<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}

impl Event {
    /// Returns the type of the event, whose word is stored beside it.
    pub fn event_type(&self) -> EventType {
        match self {
            Self::Prepared(_) => EventType::Prepared,
            Self::Started(_) => EventType::Started,
            Self::Reused { .. } => EventType::Reused,
            Self::Skipped { .. } => EventType::Skipped,
            Self::Listed { .. } => EventType::Listed,
            Self::Asked { .. } => EventType::Asked,
            Self::Answered { .. } => EventType::Answered,
            Self::Begun(_) => EventType::Begun,
            Self::Ended(_) => EventType::Ended,
            Self::Agent { .. } => EventType::Agent,
            Self::Healed { .. } => EventType::Healed,
            Self::Woken { .. } => EventType::Woken,
            Self::Entered { .. } => EventType::Entered,
            Self::Continued { .. } => EventType::Continued,
            Self::Expired { .. } => EventType::Expired,
            Self::Closed { .. } => EventType::Closed,
            Self::Stopped { .. } => EventType::Stopped,
            Self::Recovered { .. } => EventType::Recovered,
            Self::Resumed { .. } => EventType::Resumed,
            Self::Finished(_) => EventType::Finished,
        }
    }
}
