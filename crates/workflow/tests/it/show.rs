//! Runs as text, for snapshots.

use deft_model::{Choice, Failure};
use deft_wire::event::EventBody;
use deft_workflow::{Call, CallEnd, Event, Next, public, step_views};
use jiff::Timestamp;
use serde_json::Value;

use crate::drive::{Driver, Outcome};

/// Returns the events, calls, public events, steps and result of a run.
pub(crate) fn run(driver: &Driver, outcome: &Outcome) -> String {
    let mut out = String::from("events\n");
    let start = driver.log[0].0;
    for (number, (at, event)) in driver.log.iter().enumerate() {
        if driver.crashes.contains(&number) {
            out += "        --- crash ---\n";
        }
        out += &format!("{:>7} {}\n", since(start, *at), line(start, event));
    }
    out += "\ncalls\n";
    for call in &driver.calls {
        out += &format!("  {} {}\n", call.key, clip(&call.what));
    }
    out += "\npublic\n";
    for (_, event) in &driver.log {
        if let Some(body) = public(event) {
            out += &format!("  {}\n", public_line(event, &body));
        }
    }
    out += "\nsteps\n";
    let events = driver.log.iter().map(|(at, event)| (*at, event));
    let nested: Vec<_> = driver.nested.values().cloned().collect();
    for step in step_views(&driver.plan, &nested, events) {
        let step = serde_json::to_value(step).unwrap();
        out += &format!("  {}\n", clip(&step.to_string()));
    }
    out += &match (outcome, driver.machine.end()) {
        (Outcome::Parked(question), _) => format!("\nwaits for approval: {question}\n"),
        (Outcome::Finished, finished) => {
            let finished = finished.expect("it has finished");
            let mut text = format!(
                "\noutcome {}\noutputs {:#}\n",
                finished.outcome, finished.outputs
            );
            if let Some(error) = &finished.error {
                text += &format!("error {}\n", serde_json::to_value(error).unwrap());
            }
            text
        }
    };
    out
}

/// Formats a public event as a line: its type and its fields.
fn public_line(event: &Event, body: &EventBody) -> String {
    let Value::Object(mut fields) = serde_json::to_value(body).unwrap() else {
        panic!("{body:?} has no fields");
    };
    let kind = fields.shift_remove("type").unwrap();
    if let Event::Started(started) = event {
        // The engine adds the skill to every event; here it is shown once.
        fields.shift_insert(0, "skill".to_owned(), started.skill.clone().into());
    }
    let fields = clip(&Value::Object(fields).to_string());
    format!("{} {fields}", kind.as_str().unwrap())
}

fn since(start: Timestamp, at: Timestamp) -> String {
    let ms = at.as_millisecond() - start.as_millisecond();
    format!("{ms}")
}

fn clip(text: &str) -> String {
    const MAX_EVENTS: usize = 400;
    if text.chars().count() <= MAX_EVENTS {
        return text.to_owned();
    }
    let start: String = text.chars().take(MAX_EVENTS).collect();
    format!("{start}…")
}

/// Formats an event as a line.
fn line(start: Timestamp, event: &Event) -> String {
    let kind = event.event_type().word();
    let text = match event {
        Event::Prepared(prepared) => format!("{} steps", prepared.reused.len()),
        Event::Started(started) => format!("{}", Value::Object(started.inputs.clone())),
        Event::Reused {
            path,
            value,
            error,
            called,
        } => {
            format!(
                "{path} {} {}{}",
                value.clone().unwrap_or_default(),
                why(error.as_ref()),
                called.join(" ")
            )
        }
        Event::Skipped { path, reason } => format!("{path}: {reason}"),
        Event::Listed { path, items, .. } => {
            format!(
                "{path} {} items {}",
                items.len(),
                Value::Array(items.clone())
            )
        }
        Event::Asked {
            path,
            message,
            default,
            operation,
        } => format!(
            "{path} {message:?} default {default} {}",
            serde_json::to_value(operation).unwrap()
        ),
        Event::Answered { path, answer, by } => format!("{path} {answer:?} by {by}"),
        Event::Begun(begun) => format!(
            "{} #{} {} ({})",
            begun.path,
            begun.attempt,
            call(&begun.call),
            begun.effects
        ),
        Event::Ended(ended) => end(start, ended),
        Event::Healed {
            path, error, next, ..
        } => format!("{path} {}-> {}", why(error.as_ref()), follows(start, next)),
        Event::Woken { path } => path.to_string(),
        Event::Entered {
            path,
            revision,
            inputs,
            until,
        } => {
            let until = until.map_or(String::new(), |at| format!(" until {}", since(start, at)));
            format!("{path} {revision} {}{until}", Value::Object(inputs.clone()))
        }
        Event::Continued {
            path,
            attempt,
            until,
        } => {
            let until = until.map_or(String::new(), |at| format!(" until {}", since(start, at)));
            format!("{path} #{attempt}{until}")
        }
        Event::Expired { path, failure } => format!("{path} {}", why(Some(failure))),
        Event::Closed {
            path,
            values,
            error,
            ms,
        } => format!(
            "{path} {} {}{ms}ms",
            Value::Array(values.clone()),
            why(error.as_ref())
        ),
        Event::Stopped { failure } => why(Some(failure)),
        Event::Recovered { interrupted_at } => format!("after {interrupted_at}"),
        Event::Resumed { by } => by.clone(),
        Event::Agent { path, event } => format!("agent {path} {:?}", event.what),
        Event::Finished(finished) => format!("{} {}ms", finished.outcome, finished.ms),
    };
    clip(format!("{kind} {text}").trim_end())
}

pub(crate) fn call(call: &Call) -> String {
    match call {
        Call::Tool { tool, args } => format!("{tool} {}", Value::Object(args.clone())),
        Call::Expect { of } => format!("expect of {of:?}").to_lowercase(),
        Call::Agent { instructions } => format!("agent {instructions:?}"),
        Call::Skill { skill, args } => format!("skill {skill} {}", Value::Object(args.clone())),
        Call::Wait { until } => format!("wait until {until}"),
        other => match serde_json::to_value(other).unwrap() {
            Value::Object(values) => format!("{} {}", other.key(), values[other.key()]),
            _ => other.key().to_owned(),
        },
    }
}

fn end(start: Timestamp, ended: &CallEnd) -> String {
    let value = match &ended.value {
        Some(value) => format!("{value} "),
        None => String::new(),
    };
    format!(
        "{} #{} {value}{}{}ms -> {}",
        ended.path,
        ended.attempt,
        why(ended.error.as_ref()),
        ended.ms,
        follows(start, &ended.next)
    )
}

fn follows(start: Timestamp, next: &Next) -> String {
    match next {
        Next::Retry { at } => format!("retry at {}", since(start, *at)),
        Next::Heal(heal) => format!(
            "heal {} {} {}",
            heal.ordinal,
            heal.tool,
            Value::Object(heal.args.clone())
        ),
        Next::Verify { of } => format!("verify for {of:?}").to_lowercase(),
        other => format!("{other:?}").to_lowercase(),
    }
}

fn why(failure: Option<&Failure>) -> String {
    let Some(failure) = failure else {
        return String::new();
    };
    let mut text = format!("{}: {}", failure.class, failure.message);
    if let Some(hint) = &failure.hint {
        text += &format!(" ({hint})");
    }
    if failure.in_doubt {
        text += " in doubt";
    }
    if failure.blocked {
        text += " blocked";
    }
    text + " "
}
