//! `deft runs show`: a run with its steps, calls and notices.

use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::Done;
use crate::output::{Output, local};
use crate::progress::duration;
use deft_service::talk::describe_usage;
use deft_service::{App, runs};
use deft_wire::interruption::{Interruption, InterruptionCause};
use deft_wire::model::{Outcome, clip_value};
use deft_wire::run::{
    CallStatus, CallView, ItemCounts, RunDetail, RunDocument, RunNotice, RunView, StepStatus,
    StepView,
};

/// The maximum length of a value on a line; `--json` prints it in full.
const VALUE: usize = 160;

/// The maximum number of failed loop items that a line names.
const FAILED_ITEMS: usize = 10;

pub(crate) fn run(id: &str, global: &Global, output: &Output) -> Done {
    let app = App::to_read(&global.workspace())?;
    let run = runs::show(&app, id)?;
    if output.json {
        output.document(&json!(RunDocument { run }))?;
    } else {
        output.prose(describe_run(&run, &app.zone))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn describe_run(detail: &RunDetail, zone: &TimeZone) -> String {
    let mut text = head(detail, zone);
    for step in &detail.steps {
        text.push_str(&step_line(step, zone));
        let indent = "  ".repeat(step.id.matches('/').count() + 2);
        for warning in &step.warnings {
            text.push_str(&format!("{indent}! {warning}\n"));
        }
        for call in detail.calls.iter().filter(|call| belongs(call, step)) {
            text.push_str(&call_line(call));
        }
    }
    text
}

/// Formats the run itself, printed above its steps.
fn head(detail: &RunDetail, zone: &TimeZone) -> String {
    let run = &detail.run;
    let gone = detail.owner_gone == Some(true);
    let state = match run.outcome {
        Some(outcome) => outcome.to_string(),
        None if gone => "running, but its process has exited".to_owned(),
        None => run.status.to_string(),
    };
    let mut text = format!("{}  {}  {state}\n", run.id, run.skill);
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("  {name:<10} {value}\n"));
        }
    };
    line("revision", run.revision.get(..12).unwrap_or_default());
    line("cause", run.cause.as_str());
    line("slot", &slots(run, zone));
    if let Some(why) = &detail.check_failed {
        line("check", &format!("failed: {why}"));
    }
    line("request", detail.request_id.as_deref().unwrap_or_default());
    line("key", run.key.as_deref().unwrap_or_default());
    let parent = run.parent.as_ref();
    line("rerun of", parent.map_or("", |parent| parent.as_str()));
    let started = run.started_at;
    line(
        "started",
        &started.map_or(String::new(), |at| local(at, zone)),
    );
    line("took", &format_work_time(detail));
    for gap in &detail.interruptions {
        line("interrupted", &interruption(gap, zone));
    }
    line("models", &models(run));
    line("waits for", run.waiting_for.as_deref().unwrap_or_default());
    line("inputs", &short(&run.inputs));
    line("outputs", &short(&run.outputs));
    if let Some(error) = &run.error {
        // A skipped or missed slot is not a failure.
        match run.outcome {
            Some(Outcome::Skipped | Outcome::Missed) => line("why", &error.message),
            _ => line("error", &format!("{} ({})", error.message, error.class)),
        }
        line("hint", error.hint.as_deref().unwrap_or_default());
    }
    if gone {
        let hint = format!("`deft runs resume {}` or `deft up` continues it", run.id);
        line("hint", &hint);
    }
    for notice in &detail.notices {
        line("notice", &describe_notice(notice));
    }
    text
}

/// Formats the time that the run worked and the time that it was idle.
fn format_work_time(detail: &RunDetail) -> String {
    let idle = |ms: u64, word: &str| match ms {
        0 => String::new(),
        ms => format!("{word} {}", show_duration(Some(ms))),
    };
    let parts = [
        show_duration(detail.worked_ms()),
        idle(detail.idle.waited_ms, "waited"),
        idle(detail.idle.interrupted_ms, "interrupted for"),
    ];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// Formats an interruption: "last activity 14:02:11, resumed 14:02:15 (4.0 s later) by another process". The
/// time at which a process was killed is unknown, only its last stored event.
fn interruption(gap: &Interruption, zone: &TimeZone) -> String {
    let (from, to) = (gap.interrupted_at, gap.resumed_at);
    let at = |at: Timestamp, form: &str| at.to_zoned(zone.clone()).strftime(form).to_string();
    let day = |at| zone.to_datetime(at).date();
    let form = if day(from) == day(to) {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M:%S"
    };
    let later = to.duration_since(from).unsigned_abs();
    let by = match (gap.cause, &gap.by) {
        (InterruptionCause::ProcessEnded, _) | (InterruptionCause::RunEnded, None) => {
            "another process".to_owned()
        }
        (InterruptionCause::RunEnded, Some(by)) => format!("`{by}`"),
    };
    let stopped = match gap.cause {
        InterruptionCause::ProcessEnded => "last activity",
        InterruptionCause::RunEnded => "ended",
    };
    format!(
        "{stopped} {}, resumed {} ({} later) by {by}",
        at(from, form),
        at(to, form),
        duration(later)
    )
}

/// Formats the slot of a run, or the range of slots that it represents.
fn slots(run: &RunView, zone: &TimeZone) -> String {
    let shown = |at: Option<_>| at.map_or(String::new(), |at| local(at, zone));
    match run.slot_count {
        0 | 1 => shown(run.slot),
        count => {
            let (first, last) = (shown(run.slot), shown(run.slot_until));
            format!("{first} to {last}, {count} slots")
        }
    }
}

/// Describes the usage of models, or returns an empty string if no model was called.
fn models(run: &RunView) -> String {
    match run.usage.llm_calls {
        0 => String::new(),
        _ => describe_usage(&run.usage.into()),
    }
}

/// Formats the kind of a notice and its delivery state.
fn describe_notice(notice: &RunNotice) -> String {
    let mut texts = [&notice.receipt, &notice.error].into_iter().flatten();
    let more = texts.find(|text| !text.is_empty());
    let more = more.map_or(String::new(), |more| format!(": {more}"));
    format!("{} {}{more}", notice.kind, notice.status.word())
}

/// Formats the progress of a loop and its failed items.
fn items(items: &ItemCounts) -> String {
    let mut text = format!("{}/{} items", items.done, items.total);
    if items.failed > 0 {
        let named = items.failed_items.iter().take(FAILED_ITEMS);
        let named: Vec<String> = named.map(|item| format!("[{item}]")).collect();
        let more = if items.failed > FAILED_ITEMS {
            ", …"
        } else {
            ""
        };
        let named = named.join(", ");
        text.push_str(&format!(", {} failed: {named}{more}", items.failed));
    }
    text
}

/// Returns why a step was skipped or what it waits for. The end of a wait is shown in `zone`.
fn reason(step: &StepView, zone: &TimeZone) -> String {
    match step.until {
        Some(instant) => format!("until {}", local(instant, zone)),
        None => step.reason.clone().unwrap_or_default(),
    }
}

fn step_line(step: &StepView, zone: &TimeZone) -> String {
    let sign = match step.status {
        StepStatus::Success => "✓",
        StepStatus::Error => "✗",
        StepStatus::Skipped => "-",
        StepStatus::Waiting => "?",
        StepStatus::Running => "▸",
        StepStatus::Pending => "·",
    };
    let indent = "  ".repeat(step.id.matches('/').count() + 1);
    let tried = match step.attempts {
        0 | 1 => String::new(),
        attempts => format!("{attempts} attempts"),
    };
    let text = match step.status {
        StepStatus::Error => step.error.as_ref().map(|error| error.message.clone()),
        StepStatus::Success => Some(short(&step.result)),
        StepStatus::Pending | StepStatus::Running | StepStatus::Waiting | StepStatus::Skipped => {
            Some(reason(step, zone))
        }
    };
    let parts = [
        step.kind.clone(),
        show_duration(step.duration_ms),
        tried,
        step.items.as_ref().map_or(String::new(), items),
        text.unwrap_or_default(),
    ];
    format!("{indent}{sign} {}  {}\n", step.id, join_parts(parts))
}

/// Whether `call` was made by an agent of this step or of one of its items.
fn belongs(call: &CallView, step: &StepView) -> bool {
    let rest = call.step_id.strip_prefix(&step.id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// Formats a call of an agent: the tool, the arguments, who approved it, and the result.
fn call_line(call: &CallView) -> String {
    let step = call.step_id.matches('/').count();
    let indent = "  ".repeat(step + call.depth + 2);
    let (sign, what) = match call.status {
        CallStatus::Success => ("✓", ""),
        CallStatus::Error => ("✗", ""),
        CallStatus::Refused => ("✗", "refused"),
        CallStatus::Answered => ("·", "answered by deft"),
        CallStatus::Waiting => ("?", "waits for approval"),
        CallStatus::Running => ("▸", ""),
    };
    let answered = match (&call.answered_by, call.status) {
        (None, _) => String::new(),
        (Some(by), CallStatus::Refused) => format!("answered by {by}"),
        (Some(by), _) => format!("approved by {by}"),
    };
    let parts = [
        short(&json!(call.args)),
        show_duration(call.duration_ms),
        what.to_owned(),
        answered,
        short(&json!(call.note)),
    ];
    format!("{indent}{sign} {}  {}\n", call.tool, join_parts(parts))
        .trim_end_matches(' ')
        .to_owned()
}

fn join_parts(parts: [String; 5]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("  ")
}

fn show_duration(ms: Option<u64>) -> String {
    let length = ms.map(Duration::from_millis);
    length.map_or(String::new(), duration)
}

/// A value on one line; nothing for an empty one.
fn short(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => clip_value(value, VALUE),
    }
}
