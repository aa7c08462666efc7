//! The state of a task, derived from its run.

use std::time::Duration;

use deft_service::{App, approvals, offers, runs};
use deft_wire::approval::ApprovalView;
use deft_wire::mcp::SkillRun;
use deft_wire::model::{Outcome, RunStatus};
use deft_wire::run::{RunDetail, StepStatus, StepView};
use deft_wire::{Done, Failure, FailureKind};
use jiff::Timestamp;
use rmcp::ErrorData;
use rmcp::model::{DetailedTask, JsonObject, Task, TaskPayload, TaskStatus};
use serde_json::Value;

use crate::mcp::elicit::AskMethod;
use crate::mcp::{elicit, reply};

/// Suggested polling interval for a run in progress.
const POLL: Duration = Duration::from_secs(1);

/// Longest polling interval, for a run that waits for a time: others may cancel it meanwhile.
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(30);

/// A stored run with its pending approvals.
pub(super) struct TaskRun {
    pub(super) detail: RunDetail,
    pub(super) questions: Vec<ApprovalView>,
}

impl TaskRun {
    /// Reads the run of a task. A run that was not started by an MCP client is not a task.
    pub(super) fn read(app: &App, id: &str) -> Result<Self, ErrorData> {
        let run = Self::find(app, id).map_err(|failure| match failure.kind {
            FailureKind::Input => unknown(id),
            FailureKind::Unsuccessful | FailureKind::Interrupted | FailureKind::Internal => {
                internal(failure)
            }
        })?;
        // Lookups also accept a prefix of an id, and `last`.
        let is_same = run.detail.run.id.as_str() == id;
        if is_same && run.detail.run.cause == offers::CAUSE {
            Ok(run)
        } else {
            Err(unknown(id))
        }
    }

    fn find(app: &App, id: &str) -> Done<Self> {
        let detail = runs::show(app, id)?;
        let mut questions = approvals::list(app, false)?;
        questions.retain(|question| question.run == detail.run.id);
        Ok(Self { detail, questions })
    }

    /// Whether the run has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.detail.run.status == RunStatus::Done
    }

    /// Whether the run cannot continue without an answer.
    pub(super) fn is_asking(&self) -> bool {
        self.detail.run.status == RunStatus::Waiting && !self.questions.is_empty()
    }

    /// Whether nothing of the run is in progress: it waits for a time, an answer or a tool.
    pub(super) fn is_idle(&self) -> bool {
        let steps = || self.detail.steps.iter().map(|step| step.status);
        match self.detail.run.status {
            RunStatus::Waiting => true,
            RunStatus::Running => {
                steps().all(|status| status != StepStatus::Running)
                    && steps().any(|status| status == StepStatus::Waiting)
            }
            RunStatus::Queued | RunStatus::Done => false,
        }
    }

    /// Whether a call can stop waiting: the run has ended or rests. A run that has just asked is about to be
    /// parked and does not count yet.
    pub(super) fn can_return(&self) -> bool {
        let parks_soon = !self.questions.is_empty() && !self.is_asking();
        self.has_ended() || self.is_idle() && !parks_soon
    }

    /// Whether the run could continue but no process drives it.
    pub(super) fn lacks_driver(&self) -> bool {
        match self.detail.run.status {
            RunStatus::Queued => true,
            RunStatus::Waiting => self.questions.is_empty(),
            RunStatus::Running => self.detail.owner_gone == Some(true),
            RunStatus::Done => false,
        }
    }

    /// Returns the run in the form that calls return.
    pub(super) fn skill_run(&self) -> SkillRun {
        SkillRun::new(self.detail.run.clone(), self.questions.clone())
    }

    /// Returns the state of the task, for a client that can ask its person by `ask_by`.
    pub(super) fn describe(&self, ask_by: AskMethod, now: Timestamp) -> DetailedTask {
        let run = &self.detail.run;
        let can_ask = ask_by != AskMethod::Nothing;
        let changed = self.last_change().to_string();
        let mut task = Task::new(
            run.id.as_str(),
            TaskStatus::Working,
            run.admitted_at.to_string(),
            changed,
        )
        .with_status_message(self.message(can_ask));
        task.poll_interval_ms = (!self.has_ended()).then(|| self.poll_interval(now));
        DetailedTask::new(task, self.payload(can_ask))
    }

    fn payload(&self, can_ask: bool) -> TaskPayload {
        match self.detail.run.outcome {
            Some(Outcome::Cancelled) => TaskPayload::Cancelled,
            Some(
                Outcome::Success
                | Outcome::Error
                | Outcome::Skipped
                | Outcome::Missed
                | Outcome::Blocked
                | Outcome::Interrupted,
            ) => TaskPayload::Completed {
                result: self.result(),
            },
            None if can_ask && !self.questions.is_empty() => TaskPayload::InputRequired {
                input_requests: elicit::input_requests(&self.questions),
            },
            None => TaskPayload::Working,
        }
    }

    /// Returns the result of the call. A failed run has a result too, because tasks fail only by protocol
    /// errors.
    fn result(&self) -> JsonObject {
        let result = serde_json::to_value(reply::run(&self.skill_run()));
        match result {
            Ok(Value::Object(fields)) => fields,
            // A result consists of strings and numbers, so serialization cannot fail.
            Ok(_) | Err(_) => JsonObject::new(),
        }
    }

    fn message(&self, can_ask: bool) -> String {
        let run = &self.detail.run;
        match (run.status, self.questions.first()) {
            (RunStatus::Done, _) => match (&run.error, run.outcome) {
                (Some(error), _) => error.message.clone(),
                (None, Some(outcome)) => format!("ended: {outcome}"),
                (None, None) => "ended".to_owned(),
            },
            (RunStatus::Queued | RunStatus::Waiting | RunStatus::Running, Some(question)) => {
                let (id, text) = (&question.id, &question.message);
                if can_ask {
                    format!("waits for approval: {text}")
                } else {
                    format!("waits for approval (`approval_answer` with `{id}`): {text}")
                }
            }
            (RunStatus::Queued, None) => "waits for its turn".to_owned(),
            (RunStatus::Waiting, None) => {
                let what = run.waiting_for.as_deref().unwrap_or("its turn");
                format!("waits for {what}")
            }
            (RunStatus::Running, None) => self.position(),
        }
    }

    /// Describes the step that the run has reached.
    fn position(&self) -> String {
        let waits = self.waiting_steps().find_map(|step| {
            let reason = step.reason.as_ref()?;
            Some(format!("`{}` waits {reason}", step.id))
        });
        match (waits, self.detail.position()) {
            (Some(waits), _) => waits,
            (None, Some(at)) => format!("step {} of {}", at.number, at.total),
            (None, None) => "running".to_owned(),
        }
    }

    fn waiting_steps(&self) -> impl Iterator<Item = &StepView> {
        let steps = self.detail.steps.iter();
        steps.filter(|step| step.status == StepStatus::Waiting)
    }

    /// Returns the latest instant in the record of the run.
    fn last_change(&self) -> Timestamp {
        let run = &self.detail.run;
        let steps = self.detail.steps.iter().filter_map(|step| {
            let took = Duration::from_millis(step.duration_ms.unwrap_or_default());
            step.started_at?.checked_add(took).ok()
        });
        let asked = self.questions.iter().map(|question| question.asked_at);
        let own = run.started_at.into_iter().chain(run.finished_at);
        let newest = own.chain(steps).chain(asked).max();
        newest.map_or(run.admitted_at, |newest| newest.max(run.admitted_at))
    }

    /// Returns the suggested polling interval in milliseconds.
    fn poll_interval(&self, now: Timestamp) -> u64 {
        let until = self.waiting_steps().filter_map(|step| step.until).min();
        let rest = until.filter(|_| self.is_idle());
        let rest = rest.and_then(|until| Duration::try_from(until.duration_since(now)).ok());
        let rest = rest.unwrap_or(POLL).clamp(POLL, MAX_POLL_INTERVAL);
        u64::try_from(rest.as_millis()).unwrap_or(u64::MAX)
    }
}

fn unknown(id: &str) -> ErrorData {
    ErrorData::invalid_params(format!("unknown task `{id}`"), None)
}

/// Creates the error for a failure of deft during a request about a task.
pub(super) fn internal(failure: Failure) -> ErrorData {
    ErrorData::internal_error(failure.message, None)
}
