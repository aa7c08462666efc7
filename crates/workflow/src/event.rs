//! The recorded events of a run. They are enough to rebuild a [`Machine`] without evaluating
//! anything again: rendered arguments, condition results, loop lists, retry instants and what
//! follows a failure are all part of them.
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

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// What the run will begin with, where another process may begin it.
    Prepared(RunPreparation),
    /// The run began.
    Started(RunStart),
    /// A step of an earlier run counts for this one (`rerun --from`).
    Reused {
        /// The step.
        path: Path,
        /// Its value; none if it was skipped.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "present"
        )]
        value: Option<Value>,
        /// Its tolerated failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// Tools that it called with success, for `expect: {called: …}`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        called: Vec<String>,
    },
    /// A step or an item was not done.
    Skipped {
        /// The step or item.
        path: Path,
        /// Why.
        reason: String,
    },
    /// The list of a loop is known.
    Listed {
        /// The step.
        path: Path,
        /// What is done with each item: `tool`, `compute`, …
        step_type: String,
        /// The items.
        items: Vec<Value>,
    },
    /// A person is asked before a step.
    Asked {
        /// The step.
        path: Path,
        /// The question.
        message: String,
        /// The answer that is preselected.
        default: bool,
        /// What would be done, as far as it is known.
        operation: Operation,
    },
    /// The question was answered.
    Answered {
        /// The step.
        path: Path,
        /// The answer.
        answer: Answer,
        /// Who gave it.
        by: String,
    },
    /// Something outside is about to be done. Stored before it is done.
    Begun(CallIntent),
    /// It was done, or it failed.
    Ended(CallEnd),
    /// Something happened to the agent of a step that has begun and not ended.
    Agent {
        /// The step or item.
        path: Path,
        /// What.
        event: Box<deft_agent::Event>,
    },
    /// A remedy was tried.
    Healed {
        /// The step or item that it is for.
        path: Path,
        /// What went wrong with the remedy, if anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// What follows.
        next: Next,
        /// How long it took.
        ms: u64,
    },
    /// A wait before a retry is over.
    Woken {
        /// The step or item.
        path: Path,
    },
    /// A nested skill is pinned and begins.
    Entered {
        /// The step or item.
        path: Path,
        /// Its revision.
        revision: String,
        /// Its checked inputs.
        inputs: Object,
        /// When it has taken too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A nested skill that failed goes on where it failed: its step is tried again.
    Continued {
        /// The step or item.
        path: Path,
        /// Which try it is.
        attempt: u32,
        /// When it has taken too long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A nested skill has taken too long: everything inside it stops.
    Expired {
        /// The step or item that runs it.
        path: Path,
        /// What the steps inside and the step around them end with: class `timeout`.
        failure: Failure,
    },
    /// All items of a loop have ended.
    Closed {
        /// The step.
        path: Path,
        /// The values of the items in order; null for one that was skipped or never begun.
        values: Vec<Value>,
        /// Why it failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
        /// How long it took from its first item.
        ms: u64,
    },
    /// A person stops the run, or its time is up.
    Stopped {
        /// Why: class `cancelled` or `timeout`.
        failure: Failure,
    },
    /// Another process continues the run: the one that drove it ended without a word.
    Recovered {
        /// The last sign of the process that drove it.
        interrupted_at: Timestamp,
    },
    /// A person lets an ended run go on.
    Resumed {
        /// Who.
        by: String,
    },
    /// The run is over.
    Finished(RunEnd),
}

/// What a run that waits for its turn will begin with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunPreparation {
    /// The folder or project it works on.
    pub workspace_uri: String,
    /// Makes the placeholders of secrets unguessable.
    pub nonce: String,
    /// Steps of an earlier run that count again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<Event>,
    /// Why the check before the run could not be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_failed: Option<String>,
    /// The rights of the agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Arc<Authority>>,
    /// The request that started it.
    #[serde(default, skip_serializing_if = "RunOrigin::is_unknown")]
    pub origin: RunOrigin,
}

/// How a run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStart {
    /// The skill.
    pub skill: String,
    /// Its pinned revision.
    pub revision: String,
    /// The run.
    pub execution_id: String,
    /// The folder or project it works on.
    pub workspace_uri: String,
    /// Checked inputs.
    pub inputs: Object,
    /// Makes the placeholders of secrets unguessable.
    pub nonce: String,
    /// Why the check before the run could not be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check_failed: Option<String>,
    /// The rights of the agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority: Option<Arc<Authority>>,
    /// The request that started it.
    #[serde(default, skip_serializing_if = "RunOrigin::is_unknown")]
    pub origin: RunOrigin,
}

/// What a confirmation is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Operation {
    /// The kind of the step: `tool`, `compute`, …
    pub kind: String,
    /// The tool or skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its arguments, where they are known before the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The tool, where a person may agree to all of its calls at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<ToolMark>,
}

/// A tool as its server described it when a person was asked about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolMark {
    /// Its full name.
    pub tool: String,
    /// A hash of its description by its server.
    pub digest: String,
}

impl Operation {
    /// True when it says exactly what would be done: a tool or a skill with all its arguments, or
    /// something that has none and is part of the skill.
    pub fn is_exact(&self) -> bool {
        match self.kind.as_str() {
            "tool" | "skill" => self.name.is_some() && self.args.is_some(),
            _ => true,
        }
    }
}

/// An answer to a confirmation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Do it.
    Yes,
    /// Do not, and stop the run.
    No,
    /// Leave out this step and go on.
    Skip,
}

/// The intent to do something outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallIntent {
    /// The step or item.
    pub path: Path,
    /// 1 for the first try.
    pub attempt: u32,
    /// What is done.
    pub call: Arc<Call>,
    /// What repeating it would do.
    pub effects: Effects,
}

/// How a call ended and what follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallEnd {
    /// The step or item.
    pub path: Path,
    /// Which try; 0 when it failed before anything was called.
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
    /// True when an earlier result was used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Tools that a model called with success during an agent step, for `expect: {called: …}`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called: Vec<String>,
    /// How long the try took; of the last one of a step, how long the step took with all its tries.
    pub ms: u64,
}

/// What follows the end of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// It is done.
    Done,
    /// The worker has judged the condition of the step, which now begins or is left out.
    Judged,
    /// The value is there, and the worker has to say whether it is as expected.
    Verify {
        /// Who expects it.
        of: ExpectLevel,
    },
    /// It is tried again at an instant.
    Retry {
        /// When.
        at: Timestamp,
    },
    /// What it needs is missing: the call waits until that is back, or until an instant at the
    /// latest. This does not use up a retry.
    #[serde(rename = "wait")]
    Postponed {
        /// When.
        at: Timestamp,
    },
    /// A remedy is tried first.
    Heal(Arc<Heal>),
    /// The failure is tolerated.
    Tolerate,
    /// The run fails.
    Fail,
    /// The call may have taken effect and must not be repeated unasked.
    Interrupt,
    /// A tool or server is not there.
    Block,
}

impl Next {
    /// True when the try was the last one of its step or item.
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

/// A remedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heal {
    /// 1 for the first remedy of this step or item.
    pub ordinal: u32,
    /// What went wrong.
    pub class: FailureClass,
    /// The tool that mends.
    pub tool: String,
    /// Rendered arguments.
    pub args: Object,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// What it returns.
    pub outputs: Value,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// How long it took.
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

/// Reads a value that is there, be it null. One that is not there is none.
fn present<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(from).map(Some)
}

impl Event {
    /// The type of the event, whose word is stored beside it.
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
