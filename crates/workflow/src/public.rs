//! The public form of stored events: exactly the names and fields of S3.30, and further ones of deft.
//!
//! The public form is a function of one stored event, so what a person saw live is what they see
//! tomorrow. Some events have none.

use deft_model::{Object, Outcome};
use serde_json::{Value, json};

use crate::event::{Answer, CallEnd, CallIntent, Event, Next, RunEnd, RunStart};
use crate::public_form::{OPTIONS, failure, seconds, with_fields};

/// The public form of an event: its `type` and the fields that belong to it.
///
/// Who stores the event adds `seq`, `at`, `execution_id` and `skill`.
pub fn public(event: &Event) -> Option<(&'static str, Object)> {
    let (kind, fields) = match event {
        Event::Started(started) => ("skill_started", started_fields(started)),
        Event::Begun(begun) => return step_started(begun),
        Event::Listed {
            path,
            step_type,
            items,
        } => (
            "step_started",
            json!({ "step_id": path, "step_type": step_type, "items": items.len() }),
        ),
        Event::Ended(ended) => return step_ended(ended),
        Event::Closed {
            path,
            values,
            error,
            ms,
        } => (
            "step_completed",
            json!({ "step_id": path, "success": error.is_none(), "result": values,
                "error": error.as_ref().map(failure), "duration": seconds(*ms) }),
        ),
        Event::Reused {
            path,
            value: None,
            error: None,
            ..
        } => (
            "step_skipped",
            json!({ "step_id": path, "reason": "left out in the earlier run", "reused": true }),
        ),
        Event::Reused {
            path, value, error, ..
        } => (
            "step_completed",
            json!({ "step_id": path, "success": error.is_none(), "result": value,
                "error": error.as_ref().map(failure), "duration": 0.0, "reused": true }),
        ),
        Event::Skipped { path, reason } => {
            let kind = match path.parts() {
                (_, _, Some(_)) => "item_skipped",
                _ => "step_skipped",
            };
            (kind, json!({ "step_id": path, "reason": reason }))
        }
        Event::Asked {
            path,
            message,
            default,
            operation,
        } => (
            "confirmation_required",
            json!({ "step_id": path, "message": message, "options": OPTIONS,
                "default": default, "operation": operation }),
        ),
        Event::Answered { path, answer, by } => (
            "confirmation_answered",
            json!({ "step_id": path, "answer": answer.word(), "by": by }),
        ),
        Event::Healed {
            path, error, ms, ..
        } => (
            "auto_heal_completed",
            json!({ "step_id": path, "success": error.is_none(),
                "error": error.as_ref().map(failure), "duration": seconds(*ms) }),
        ),
        Event::Continued { path, attempt, .. } => (
            "step_retried",
            json!({ "step_id": path, "step_type": "skill", "attempt": attempt }),
        ),
        Event::Agent { path, event } => return crate::mind::public(path, event),
        Event::Resumed { by } => ("skill_resumed", json!({ "by": by })),
        Event::Finished(finished) => finish(finished),
        Event::Prepared(_)
        | Event::Woken { .. }
        | Event::Entered { .. }
        | Event::Expired { .. }
        | Event::Stopped { .. } => return None,
    };
    with_fields(kind, fields)
}

impl Answer {
    /// The word for the answer, one of [`OPTIONS`].
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => OPTIONS[0],
            Self::No => OPTIONS[1],
            Self::Skip => OPTIONS[2],
        }
    }
}

fn started_fields(started: &RunStart) -> Value {
    let mut fields = json!({ "skill": started.skill, "inputs": started.inputs,
        "revision": started.revision });
    // Most skills have no check: what they would say of it is left out.
    if let Some(why) = &started.check_failed {
        fields["check_failed"] = json!(why);
    }
    fields
}

/// Retries of a step are not new steps.
fn step_started(begun: &CallIntent) -> Option<(&'static str, Object)> {
    let (_, _, item) = begun.path.parts();
    if begun.call.is_judgement() {
        return None;
    }
    let mut fields = json!({ "step_id": begun.path, "step_type": begun.call.key() });
    for (key, value) in begun.call.public_fields() {
        fields[key] = value;
    }
    fields["attempt"] = json!(begun.attempt);
    let kind = match (begun.attempt, item) {
        (1, None) => "step_started",
        (1, Some(_)) => "item_started",
        _ => "step_retried",
    };
    with_fields(kind, fields)
}

fn step_ended(ended: &CallEnd) -> Option<(&'static str, Object)> {
    let (_, _, item) = ended.path.parts();
    let error = ended.error.as_ref().map(failure);
    match &ended.next {
        Next::Retry { at } | Next::Postponed { at } => with_fields(
            "step_retrying",
            json!({ "step_id": ended.path, "attempt": ended.attempt, "error": error,
                "retry_at": at.to_string() }),
        ),
        Next::Heal(heal) => with_fields(
            "auto_heal_triggered",
            json!({ "step_id": ended.path, "failure_type": heal.class, "action": heal.tool,
                "args": heal.args, "error": error }),
        ),
        // Only its condition has been judged, or its result is about to be.
        Next::Judged | Next::Verify { .. } => None,
        // How the skill ended says it.
        _ if ended.path.is_outputs() => None,
        Next::Done | Next::Tolerate | Next::Fail | Next::Interrupt | Next::Block => {
            let kind = match item {
                None => "step_completed",
                Some(_) => "item_completed",
            };
            with_fields(
                kind,
                json!({ "step_id": ended.path, "success": ended.error.is_none(),
                    "result": ended.value, "error": error, "duration": seconds(ended.ms),
                    "cached": ended.cached }),
            )
        }
    }
}

fn finish(finished: &RunEnd) -> (&'static str, Value) {
    let duration = seconds(finished.ms);
    let error = finished.error.as_ref();
    let message = error.map(|error| error.failure.message.clone());
    let step = error.and_then(|error| error.step.as_ref());
    let kind = match finished.outcome {
        Outcome::Success => {
            let fields =
                json!({ "success": true, "outputs": finished.outputs, "duration": duration });
            return ("skill_completed", fields);
        }
        Outcome::Skipped => "skill_skipped",
        Outcome::Missed => "skill_missed",
        Outcome::Blocked => "skill_blocked",
        Outcome::Cancelled => "skill_cancelled",
        Outcome::Error | Outcome::Interrupted => "skill_failed",
    };
    let class = error.map(|error| error.failure.class);
    let fields = json!({ "error": message, "step_id": step, "class": class,
        "outcome": finished.outcome, "duration": duration });
    (kind, fields)
}
