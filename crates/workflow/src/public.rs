//! The public form of stored events: exactly the names and fields of S3.30, and additional ones of deft.
//!
//! The public form is a function of one stored event, so a live view and a later one are the same. Some
//! events have no public form. Public events are built only here and in `public_agent.rs`; their types are in
//! `deft_wire::event`.

use deft_model::Outcome;
use deft_wire::approval::{ApprovalAnswer, OperationView, RememberedTool};
use deft_wire::event::{
    self as view, Confirmation, ConfirmationAnswer, EventBody, StepBegin, StepEnd, StepSkip,
};

use crate::Path;
use crate::event::{Answer, CallEnd, CallIntent, Event, Next, Operation, RunEnd, RunStart};
use crate::public_agent;
use crate::public_form::{failure, object, seconds, text, value};

/// Returns the public form of an event, if it has one. Secrets are shown by name only.
///
/// The code that stores the event adds `seq`, `at`, `execution_id` and `skill`.
pub fn public(event: &Event) -> Option<EventBody> {
    Some(match event {
        Event::Started(started) => run_started(started),
        Event::Begun(begun) => return step_started(begun),
        Event::Listed {
            path,
            step_type,
            items,
        } => EventBody::StepStarted(StepBegin {
            items: Some(items.len()),
            ..step_begin(path, step_type)
        }),
        Event::Ended(ended) => return step_ended(ended),
        Event::Closed {
            path,
            values,
            error,
            ms,
        } => EventBody::StepCompleted(StepEnd {
            step_id: path.to_string(),
            success: error.is_none(),
            result: values.iter().map(value).collect(),
            error: error.as_ref().map(failure),
            duration: seconds(*ms),
            cached: None,
            reused: None,
        }),
        Event::Reused {
            path,
            value: None,
            error: None,
            ..
        } => EventBody::StepSkipped(StepSkip {
            step_id: path.to_string(),
            reason: "skipped in the earlier run".to_owned(),
            reused: Some(true),
        }),
        Event::Reused {
            path,
            value: result,
            error,
            ..
        } => EventBody::StepCompleted(StepEnd {
            step_id: path.to_string(),
            success: error.is_none(),
            result: result.as_ref().map(value).unwrap_or_default(),
            error: error.as_ref().map(failure),
            duration: 0.0,
            cached: None,
            reused: Some(true),
        }),
        Event::Skipped { path, reason } => step_skipped(path, reason),
        Event::Asked {
            path,
            message,
            default,
            operation: asked,
        } => EventBody::ConfirmationRequired(Confirmation::Step {
            step_id: path.to_string(),
            message: text(message),
            options: ApprovalAnswer::ALL.to_vec(),
            default: *default,
            operation: operation(asked),
        }),
        Event::Answered { path, answer, by } => {
            EventBody::ConfirmationAnswered(ConfirmationAnswer::Step {
                step_id: path.to_string(),
                answer: (*answer).into(),
                by: text(by),
            })
        }
        Event::Healed {
            path, error, ms, ..
        } => EventBody::AutoHealCompleted {
            step_id: path.to_string(),
            success: error.is_none(),
            error: error.as_ref().map(failure),
            duration: seconds(*ms),
        },
        Event::Continued { path, attempt, .. } => EventBody::StepRetried(StepBegin {
            attempt: Some(*attempt),
            ..step_begin(path, "skill")
        }),
        Event::Agent { path, event } => return public_agent::public(path, event),
        Event::Recovered { interrupted_at } => EventBody::SkillRecovered {
            interrupted_at: *interrupted_at,
        },
        Event::Resumed { by } => EventBody::SkillResumed { by: text(by) },
        Event::Finished(finished) => run_finished(finished),
        Event::Prepared(_)
        | Event::Woken { .. }
        | Event::Entered { .. }
        | Event::Expired { .. }
        | Event::Stopped { .. } => return None,
    })
}

impl Answer {
    /// Returns the word for the answer.
    pub fn word(self) -> &'static str {
        ApprovalAnswer::from(self).word()
    }

    /// Parses the word for an answer.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Yes, Self::No, Self::Skip];
        all.into_iter().find(|answer| answer.word() == word)
    }
}

impl From<Answer> for ApprovalAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => Self::Yes,
            Answer::No => Self::No,
            Answer::Skip => Self::Skip,
        }
    }
}

fn run_started(started: &RunStart) -> EventBody {
    EventBody::SkillStarted {
        inputs: object(&started.inputs),
        revision: started.revision.clone(),
        check_failed: started.check_failed.as_deref().map(text),
    }
}

fn step_begin(path: &Path, step_type: &str) -> StepBegin {
    StepBegin {
        step_id: path.to_string(),
        step_type: step_type.to_owned(),
        ..StepBegin::default()
    }
}

/// Returns the public form of a try that begins. A retry is not a new step.
fn step_started(begun: &CallIntent) -> Option<EventBody> {
    let (_, _, item) = begun.path.parts();
    if begun.call.is_judgement() {
        return None;
    }
    let mut step = StepBegin {
        attempt: Some(begun.attempt),
        ..step_begin(&begun.path, begun.call.key())
    };
    let call = begun.call.summary();
    step.tool = call.tool.map(text);
    step.skill_id = call.skill.map(text);
    step.args = call.args.map(object);
    step.until = call.until;
    Some(match (begun.attempt, item) {
        (1, None) => EventBody::StepStarted(step),
        (1, Some(_)) => EventBody::ItemStarted(step),
        _ => EventBody::StepRetried(step),
    })
}

fn step_ended(ended: &CallEnd) -> Option<EventBody> {
    let step_id = ended.path.to_string();
    let error = ended.error.as_ref().map(failure);
    match &ended.next {
        Next::Retry { at } | Next::Postponed { at } => Some(EventBody::StepRetrying {
            step_id,
            attempt: ended.attempt,
            error,
            retry_at: *at,
        }),
        Next::Heal(heal) => Some(EventBody::AutoHealTriggered {
            step_id,
            failure_type: heal.class,
            action: text(&heal.tool),
            args: object(&heal.args),
            error,
        }),
        // Only the condition was evaluated, or the result is about to be checked.
        Next::Judged | Next::Verify { .. } => None,
        // The event that ends the skill reports it.
        _ if ended.path.is_outputs() => None,
        Next::Done | Next::Tolerate | Next::Fail | Next::Interrupt | Next::Block => {
            let end = StepEnd {
                step_id,
                success: ended.error.is_none(),
                result: ended.value.as_deref().map(value).unwrap_or_default(),
                error,
                duration: seconds(ended.ms),
                cached: Some(ended.cached),
                reused: None,
            };
            Some(match ended.path.parts() {
                (_, _, None) => EventBody::StepCompleted(end),
                (_, _, Some(_)) => EventBody::ItemCompleted(end),
            })
        }
    }
}

fn step_skipped(path: &Path, reason: &str) -> EventBody {
    let skip = StepSkip {
        step_id: path.to_string(),
        reason: text(reason),
        reused: None,
    };
    match path.parts() {
        (_, _, None) => EventBody::StepSkipped(skip),
        (_, _, Some(_)) => EventBody::ItemSkipped(skip),
    }
}

fn operation(asked: &Operation) -> OperationView {
    OperationView {
        kind: asked.kind.clone(),
        name: asked.name.as_deref().map(text),
        // Null arguments are left out.
        args: asked
            .args
            .as_ref()
            .filter(|args| !args.is_null())
            .map(value),
        remember: asked.remember.as_ref().map(|mark| RememberedTool {
            tool: text(&mark.tool),
            digest: mark.digest.clone(),
        }),
    }
}

fn run_finished(finished: &RunEnd) -> EventBody {
    let error = finished.error.as_ref();
    let duration = seconds(finished.ms);
    let end = || view::RunEnd {
        error: error.map(|error| text(&error.failure.message)),
        step_id: error.and_then(|error| error.step.as_ref().map(Path::to_string)),
        class: error.map(|error| error.failure.class),
        outcome: finished.outcome,
        duration,
    };
    match finished.outcome {
        Outcome::Success => EventBody::SkillCompleted {
            success: true,
            outputs: value(&finished.outputs),
            duration,
        },
        Outcome::Skipped => EventBody::SkillSkipped(end()),
        Outcome::Missed => EventBody::SkillMissed(end()),
        Outcome::Blocked => EventBody::SkillBlocked(end()),
        Outcome::Cancelled => EventBody::SkillCancelled(end()),
        Outcome::Error | Outcome::Interrupted => EventBody::SkillFailed(end()),
    }
}
