//! Prints the outcome of a run and determines its exit code.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::FinishedDrive;
use crate::exit::Exit;
use crate::failure::Done;
use crate::output::Output;
use crate::progress::duration;
use deft_service::App;
use deft_wire::model::{FailureClass, Outcome, RunStatus, WaitKind};
use deft_wire::run::{RunDetail, RunError, RunView, StepStatus};

/// Prints the outcome of a run and returns its exit code.
pub(super) fn print(app: &App, driven: &FinishedDrive, output: &Output) -> Done {
    let detail = driven.run.detail(app)?;
    let code = if driven.interrupted {
        ExitCode::from(Exit::Interrupted)
    } else {
        exit_code(&detail)
    };
    if output.json {
        output.document(&json!(detail))?;
        return Ok(code);
    }
    say_outcome(&detail, output);
    match &detail.run.outputs {
        Value::Null => {}
        Value::String(text) => output.data(text.as_str())?,
        Value::Object(map) if map.is_empty() => {}
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            output.document(other)?;
        }
    }
    Ok(code)
}

fn say_outcome(detail: &RunDetail, output: &Output) {
    let run = &detail.run;
    let id = &run.id;
    match (run.status, run.outcome) {
        (RunStatus::Waiting, _) => say_waiting(detail, output),
        (_, Some(outcome @ (Outcome::Success | Outcome::Skipped))) => {
            say_success(detail, outcome, output);
        }
        (_, Some(outcome)) => say_failure(detail, outcome, output),
        (RunStatus::Running, None) => {
            output.complain(&format!("interrupted; run {id} is unfinished"));
            output.complain(&format!(
                "hint: `deft runs show {id}` shows how far it got, `deft runs resume {id}` continues it"
            ));
        }
        (status, None) => output.note(&format!("run {id} is {status}")),
    }
}

fn say_waiting(detail: &RunDetail, output: &Output) {
    let id = &detail.run.id;
    let what = detail.run.waiting_for.as_deref().unwrap_or("something");
    if lets_time_pass(detail) {
        output.note(&format!(
            "run {id} waits for {what}; it continues without this process"
        ));
        output.note(&format!(
            "hint: `deft up` or `deft tick` resumes it after the wait; `deft runs cancel \
             {id}` cancels it"
        ));
    } else {
        output.complain(&format!("run {id} waits for {what}"));
        output.complain(&format!(
            "hint: `deft runs resume {id}` asks here, `deft approvals list` shows pending approvals"
        ));
    }
}

fn say_success(detail: &RunDetail, outcome: Outcome, output: &Output) {
    let run = &detail.run;
    let error = run.error.as_ref();
    let why = error.map_or(String::new(), |error| format!(": {}", error.message));
    let line = format!("{outcome}{}{why}  {}", show_times(detail), run.id);
    if met_limit(run) {
        output.complain(&line);
        let hint = error.and_then(|error| error.hint.as_deref());
        hint.iter()
            .for_each(|hint| output.complain(&format!("hint: {hint}")));
    } else {
        output.note(&line);
    }
}

fn say_failure(detail: &RunDetail, outcome: Outcome, output: &Output) {
    let run = &detail.run;
    let error = run.error.as_ref();
    let message = error.map_or("", |error| &error.message);
    let step = error.and_then(|error| error.step.as_deref());
    let place = step.map_or(String::new(), |step| format!(" in `{step}`"));
    output.complain(&format!(
        "{outcome}{place}{}: {message}  {}",
        show_times(detail),
        run.id
    ));
    let hint = error.and_then(|error| error.hint.as_deref());
    if let Some(hint) = hint {
        output.complain(&format!("hint: {hint}"));
    }
    // The hint of an interrupted call already names `deft runs resume`.
    let cut_off = error.is_some_and(|error| error.class == FailureClass::Interrupted);
    let hinted = cut_off && hint.is_some();
    let resumable = matches!(
        outcome,
        Outcome::Interrupted | Outcome::Error | Outcome::Cancelled
    );
    if resumable && !hinted {
        output.note(&format!("hint: {}", next_step(run)));
    }
}

/// Formats the time that the run worked, and separately the time that it was idle.
fn show_times(detail: &RunDetail) -> String {
    let Some(worked) = detail.worked_ms().map(Duration::from_millis) else {
        return String::new();
    };
    let idle = |ms: u64, word: &str| {
        let length = duration(Duration::from_millis(ms));
        (ms >= 1000).then(|| format!("{length} {word}"))
    };
    let waited = idle(detail.idle.waited_ms, "waiting");
    let interrupted = idle(detail.idle.interrupted_ms, "interrupted");
    let idle: Vec<String> = waited.into_iter().chain(interrupted).collect();
    let idle = match idle.join(", ") {
        idle if idle.is_empty() => idle,
        idle => format!(" ({idle})"),
    };
    format!(" after {}{idle}", duration(worked))
}

/// Suggests the next command after a failed run. If the skill itself is at fault, resuming would fail again.
fn next_step(run: &RunView) -> String {
    let id = &run.id;
    let is_of_skill =
        |error: &&RunError| matches!(error.class, FailureClass::Invalid | FailureClass::Limit);
    let Some(error) = run.error.as_ref().filter(is_of_skill) else {
        return format!("`deft runs resume {id}` continues from there");
    };
    let step = error.step.as_deref();
    match step.and_then(|step| step.split(['/', '[']).next()) {
        Some(step) => {
            format!("after the fix, `deft runs rerun {id} --from {step}` continues from there")
        }
        None => format!("after the fix, `deft runs rerun {id}` runs it again"),
    }
}

/// Whether a run waits for a `wait:` step and not for an answer.
fn lets_time_pass(detail: &RunDetail) -> bool {
    let answer = detail.run.waiting_kind == Some(WaitKind::Answer);
    let mut steps = detail.steps.iter();
    !answer && steps.any(|step| step.until.is_some() && step.status == StepStatus::Waiting)
}

/// Returns the exit code for a run.
pub(crate) fn exit_code(detail: &RunDetail) -> ExitCode {
    let run = &detail.run;
    let code = match (run.status, run.outcome) {
        (RunStatus::Waiting, _) if lets_time_pass(detail) => Exit::Success,
        (RunStatus::Waiting, _) => Exit::Waiting,
        (_, Some(Outcome::Error)) if met_limit(run) => Exit::Limit,
        (_, None | Some(Outcome::Success | Outcome::Skipped)) => Exit::Success,
        (_, Some(_)) => Exit::Unsuccessful,
    };
    ExitCode::from(code)
}

/// Whether a run ended because it reached a limit of steps, repetitions or money.
fn met_limit(run: &RunView) -> bool {
    let class = run.error.as_ref().map(|error| error.class);
    matches!(class, Some(FailureClass::Limit | FailureClass::Budget))
}
