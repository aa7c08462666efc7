//! The recorded events of a run and its agents, one line per event.

use std::fmt::Write;

use deft_agent::{AgentEnd, Event as AgentEvent, EventKind, Interpretation, Setup};
use deft_model::{CallArgs, Failure, ModelReply};
use deft_workflow::{Event, Next};
use serde_json::Value;

use crate::agent_story::clipped;

/// Whether an event is the end of a call of an agent.
pub(crate) fn ends(event: &Event) -> bool {
    matches!(event, Event::Agent { event, .. } if matches!(event.what, EventKind::Returned { .. }))
}

/// Returns the sort key of an agent's event: agent, turn and call. `None` keeps the position of the event.
pub(crate) fn place_of(event: &Event, only_ends: bool) -> Option<(String, u32, Option<u32>)> {
    let Event::Agent { event, .. } = event else {
        return None;
    };
    let (turn, call) = match &event.what {
        EventKind::Returned { turn, call, .. } => (*turn, Some(*call)),
        _ if only_ends => return None,
        EventKind::Told { turn, call, .. }
        | EventKind::Question { turn, call, .. }
        | EventKind::Answered { turn, call, .. }
        | EventKind::Called { turn, call, .. }
        | EventKind::Dispatched { turn, call, .. } => (*turn, Some(*call)),
        EventKind::Asked { turn }
        | EventKind::Replied { turn, .. }
        | EventKind::Silent { turn, .. }
        | EventKind::Offered { turn, .. }
        | EventKind::Reminded { turn, .. }
        | EventKind::Rejected { turn, .. } => (*turn, None),
        EventKind::Began(_) | EventKind::Unable { .. } => (0, None),
        EventKind::Finished(_) | EventKind::Reopened => (u32::MAX, None),
    };
    Some((event.agent.to_string(), turn, call))
}

/// Returns the line for an event; `None` for events that add nothing.
pub(crate) fn event_line(event: &Event) -> Option<String> {
    Some(match event {
        Event::Agent { path, event } => format!("[{path}] {}", agent_line(event)?),
        Event::Ended(ended) if !matches!(ended.next, Next::Done | Next::Fail | Next::Judged) => {
            let why = ended
                .error
                .as_ref()
                .map(describe_failure)
                .unwrap_or_default();
            format!("[{}] ended, {:?}: {why}", ended.path, ended.next)
        }
        Event::Begun(begun) if begun.attempt > 1 => {
            format!("[{}] try {}", begun.path, begun.attempt)
        }
        Event::Stopped { failure } => format!("stopped: {}", describe_failure(failure)),
        Event::Resumed { by } => format!("resumed by {by}"),
        Event::Skipped { path, reason } => format!("[{path}] skipped: {reason}"),
        _ => return None,
    })
}

fn agent_line(event: &AgentEvent) -> Option<String> {
    let line = match &event.what {
        EventKind::Began(setup) => began(setup),
        EventKind::Unable { failure } => format!("unable: {}", describe_failure(failure)),
        EventKind::Asked { .. } => return None,
        EventKind::Replied {
            turn, reply, model, ..
        } => replied(*turn, reply, model),
        EventKind::Silent { turn, failure } => {
            format!("{turn} no answer: {}", describe_failure(failure))
        }
        EventKind::Offered { turn, tools } => {
            let names: Vec<&str> = tools.iter().map(|offer| offer.tool.as_str()).collect();
            format!("{turn} offered: {}", names.join(", "))
        }
        EventKind::Reminded { turn, text } => format!("{turn} reminded: {text}"),
        EventKind::Rejected { turn, text, .. } => format!("{turn} rejected: {text}"),
        EventKind::Finished(finished) => finish(finished, event.agent.is_root()),
        EventKind::Reopened => "reopened".to_owned(),
        of_call => call_line(of_call)?,
    };
    Some(if event.agent.is_root() {
        line
    } else {
        format!("({}) {line}", event.agent)
    })
}

fn began(setup: &Setup) -> String {
    let tools: Vec<&str> = setup.tools.iter().map(|it| it.tool.as_str()).collect();
    let skills = match &setup.skills {
        Some(skills) if skills.is_empty() => String::new(),
        Some(skills) => format!(", skills {}", skills.join(" ")),
        None => ", all skills".to_owned(),
    };
    let tools = match tools.as_slice() {
        [] => "no tools".to_owned(),
        tools => tools.join(" "),
    };
    let tools = match setup.shelf.len() {
        0 => tools,
        shelved => format!("{tools}, {shelved} on the shelf"),
    };
    let (agent, model, mode) = (&setup.agent, &setup.model, setup.mode);
    format!("{agent} begins on {model} ({mode:?}): {tools}{skills}")
}

fn replied(turn: u32, reply: &ModelReply, model: &str) -> String {
    let calls = reply.calls.iter().map(|call| match &call.args {
        CallArgs::Object(args) => format!("\n-> {} {}", call.name, Value::from(args.clone())),
        CallArgs::Invalid(raw) => format!("\n-> {} (invalid) {raw}", call.name),
    });
    let calls: String = calls.collect();
    format!("{turn} {model}: {}{calls}", clipped(&reply.text))
}

/// Describes the end of an agent. The text of a root agent is omitted, because it is the result of the run.
fn finish(finished: &AgentEnd, is_root: bool) -> String {
    match &finished.error {
        Some(failure) => format!("finished: {}", describe_failure(failure)),
        None if is_root => "finished".to_owned(),
        None => format!("finished {:?}", clipped(&finished.text)),
    }
}

fn call_line(what: &EventKind) -> Option<String> {
    Some(match what {
        EventKind::Told {
            turn,
            call,
            how,
            text,
            ..
        } => format!("{turn}.{call} {}: {}", word(*how), clipped(text)),
        EventKind::Question {
            turn,
            call,
            message,
            ..
        } => format!("{turn}.{call} asks: {message}"),
        EventKind::Answered {
            turn,
            call,
            yes,
            by,
            ..
        } => format!("{turn}.{call} {} by {by}", if *yes { "yes" } else { "no" }),
        EventKind::Called {
            turn,
            call,
            tool,
            args,
            effects,
            skill,
            covers: _,
        } => {
            let args = Value::Object(args.clone());
            let skill = skill.as_ref().map(|skill| format!(" for {skill}"));
            let skill = skill.unwrap_or_default();
            format!("{turn}.{call} calls {tool} {args} ({effects}){skill}")
        }
        EventKind::Dispatched {
            turn,
            call,
            dispatch,
        } => format!(
            "{turn}.{call} sends out {}: {} [{}] {}",
            dispatch.agent_id,
            dispatch.mission,
            dispatch.skills.join(" "),
            dispatch.context
        ),
        EventKind::Returned {
            turn,
            call,
            error: Some(failure),
            ..
        } => format!("{turn}.{call} failed: {}", describe_failure(failure)),
        EventKind::Returned {
            turn, call, value, ..
        } => {
            let value = value.as_ref().map(Value::to_string);
            format!("{turn}.{call} gave {}", clipped(&value.unwrap_or_default()))
        }
        _ => return None,
    })
}

fn word(how: Interpretation) -> &'static str {
    match how {
        Interpretation::Text => "text",
        Interpretation::Refused => "REFUSED",
        Interpretation::Mistaken => "mistaken",
        Interpretation::Problem => "problem",
        Interpretation::Declined => "declined",
        Interpretation::Described => "described",
        Interpretation::Made => "made before",
    }
}

fn describe_failure(failure: &Failure) -> String {
    let mut text = format!("{}: {}", failure.class, failure.message);
    for (is, word) in [(failure.in_doubt, "in doubt"), (failure.blocked, "blocked")] {
        if is {
            let _ = write!(text, " ({word})");
        }
    }
    match &failure.hint {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}
