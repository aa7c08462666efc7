//! Views of the steps of a run, as its JSON shows them, built from stored events.
//!
//! Steps are in the order in which they first appeared, those that have not begun at their position in the
//! plan, and the steps of a nested skill after the step or item that runs it. The items of a loop are
//! counted, not listed. Views are only for display; decisions are made by the [`Machine`].
//!
//! [`Machine`]: crate::Machine

use deft_model::Failure;
use deft_wire::run::{StepError, StepStatus, StepView};
use jiff::Timestamp;
use serde_json::Value;

use crate::event::Next;
use crate::progress::elapsed_ms;

/// Maximum number of failed items that are named.
pub(crate) const MAX_FAILED: usize = 100;

/// Returns the view of a step that has not begun.
pub(crate) fn pending_view(id: String, kind: &str) -> StepView {
    StepView {
        id,
        kind: kind.to_owned(),
        status: StepStatus::Pending,
        reason: None,
        until: None,
        attempts: 0,
        result: Value::Null,
        error: None,
        started_at: None,
        duration_ms: None,
        items: None,
        warnings: Vec::new(),
    }
}

/// Changes that events make to the view of a step.
pub(crate) trait StepChanges {
    /// Sets a status with a reason.
    fn wait(&mut self, status: StepStatus, reason: String);
    /// Ends the step.
    fn end(&mut self, at: Timestamp, status: StepStatus);
    /// Ends the step successfully.
    fn succeed(&mut self, at: Timestamp, value: Value);
    /// Ends the step with a failure.
    fn fail(&mut self, at: Timestamp, failure: &Failure);
    /// Applies what follows a failure.
    fn follow(&mut self, at: Timestamp, next: &Next);
}

impl StepChanges for StepView {
    fn wait(&mut self, status: StepStatus, reason: String) {
        self.status = status;
        self.reason = Some(reason);
        self.until = None;
    }

    fn end(&mut self, at: Timestamp, status: StepStatus) {
        self.status = status;
        self.reason = None;
        self.until = None;
        self.duration_ms = self.started_at.map(|started| elapsed_ms(started, at));
    }

    fn succeed(&mut self, at: Timestamp, value: Value) {
        self.warnings.extend(warning(&value));
        self.result = value;
        self.error = None;
        self.end(at, StepStatus::Success);
    }

    fn fail(&mut self, at: Timestamp, failure: &Failure) {
        self.error = Some(step_error(failure));
        self.end(at, StepStatus::Error);
    }

    fn follow(&mut self, at: Timestamp, next: &Next) {
        match next {
            Next::Retry { at: until } | Next::Postponed { at: until } if *until > at => {
                self.wait(StepStatus::Waiting, format!("retry at {until}"));
            }
            Next::Heal(heal) => {
                self.wait(StepStatus::Running, format!("healing with `{}`", heal.tool));
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

/// Returns a warning for a person if a tool marked its result as `truncated`.
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
