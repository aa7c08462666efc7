//! A run as its JSON shows it: one entry for each step, built from stored events.
//!
//! Steps stand in the order in which they first appeared, those that have not begun at their place
//! in the plan, and the steps of a nested skill behind the step or item that runs it. The items of
//! a loop are counted, not listed. It is not for deciding anything; that is the [`Machine`]'s part.
//!
//! [`Machine`]: crate::Machine

use std::sync::Arc;

use deft_model::{Failure, FailureClass};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::event::Next;
use crate::progress::elapsed;

/// A step of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepView {
    /// Its id; `outer/inner` inside a nested skill.
    pub id: String,
    /// What it does: the key of its [`StepKind`](deft_model::StepKind).
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it stands.
    pub status: StepStatus,
    /// Why it was skipped, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How often it was begun.
    pub attempts: u32,
    /// Its value, if it ended well.
    pub result: Option<Arc<Value>>,
    /// Its last failure.
    pub error: Option<StepError>,
    /// When it was first begun.
    pub started_at: Option<Timestamp>,
    /// How long it took from then, with all its tries.
    pub duration_ms: Option<u64>,
    /// The items of a loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub items: Option<ItemCounts>,
    /// What a person should know although it succeeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Where a step stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not begun.
    Pending,
    /// Being done.
    Running,
    /// It waits for an answer or for an instant.
    Waiting,
    /// Done.
    Success,
    /// It failed, tolerated or not.
    Error,
    /// Not done.
    Skipped,
}

/// What went wrong with a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepError {
    /// What kind of failure it is.
    pub class: FailureClass,
    /// What happened.
    pub message: String,
    /// What a person can do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// How far a loop is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ItemCounts {
    /// How many items there are.
    pub total: usize,
    /// How many have ended, one way or another.
    pub done: usize,
    /// How many of those failed.
    pub failed: usize,
    /// Which of them failed, counted from 0; only the first hundred are named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_items: Vec<usize>,
}

/// The most failed items that are named.
pub(crate) const MOST_FAILED: usize = 100;

impl StepView {
    pub(crate) fn pending(id: String, kind: &str) -> Self {
        Self {
            id,
            kind: kind.to_owned(),
            status: StepStatus::Pending,
            reason: None,
            attempts: 0,
            result: None,
            error: None,
            started_at: None,
            duration_ms: None,
            items: None,
            warnings: Vec::new(),
        }
    }

    pub(crate) fn wait(&mut self, status: StepStatus, reason: String) {
        self.status = status;
        self.reason = Some(reason);
    }

    pub(crate) fn end(&mut self, at: Timestamp, status: StepStatus) {
        self.status = status;
        self.reason = None;
        self.duration_ms = self.started_at.map(|started| elapsed(started, at));
    }

    pub(crate) fn succeed(&mut self, at: Timestamp, value: Option<Arc<Value>>) {
        self.warnings.extend(value.as_deref().and_then(warning));
        self.result = value;
        self.error = None;
        self.end(at, StepStatus::Success);
    }

    pub(crate) fn fail(&mut self, at: Timestamp, failure: &Failure) {
        self.error = Some(step_error(failure));
        self.end(at, StepStatus::Error);
    }

    /// What follows a failure.
    pub(crate) fn follow(&mut self, at: Timestamp, next: &Next) {
        match next {
            Next::Retry { at: until } | Next::Postponed { at: until } if *until > at => {
                self.wait(StepStatus::Waiting, format!("tried again at {until}"));
            }
            Next::Heal(heal) => {
                self.wait(StepStatus::Running, format!("mending with `{}`", heal.tool));
            }
            Next::Retry { .. } | Next::Postponed { .. } | Next::Judged | Next::Verify { .. } => {
                self.status = StepStatus::Running;
            }
            Next::Done | Next::Tolerate | Next::Fail | Next::Interrupt | Next::Block => {
                self.end(at, StepStatus::Error);
            }
        }
    }
}

/// What a person should know of a result: tools say `truncated` where they cut their output off.
pub fn warning(value: &Value) -> Option<String> {
    let is_cut = |value: &Value| value.get("truncated") == Some(&Value::Bool(true));
    let items = match value {
        Value::Array(items) => items.iter().filter(|item| is_cut(item)).count(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => 0,
    };
    match items {
        0 if is_cut(value) => Some("the output was cut off; the rest is lost".to_owned()),
        0 => None,
        count => Some(format!(
            "the output of {count} items was cut off; the rest is lost"
        )),
    }
}

pub(crate) fn step_error(failure: &Failure) -> StepError {
    StepError {
        class: failure.class,
        message: failure.message.clone(),
        hint: failure.hint.clone(),
    }
}
