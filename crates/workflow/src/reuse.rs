//! The steps of an earlier run that a new run takes over (`rerun --from`).
//!
//! Not here: whether the skill is still the same; the caller has checked it.

use std::collections::HashMap;

use deft_model::Failure;
use serde_json::Value;

use crate::event::{CallEnd, Event, Next};
use crate::placeholder::{rekey, rekey_text};
use crate::progress::tolerated_value;
use crate::{Path, Plan};

/// Returns the results of the steps before `from` in an earlier run, for a run with this nonce. A step that
/// did not end, or not well, is left out and runs again.
///
/// The steps before `from` are those it waits for, wherever they are in the file, and those above it that do
/// not wait for it.
pub fn reuse(plan: &Plan, events: &[Event], from: &str, nonce: &str) -> Vec<Event> {
    let Some(from) = plan.ids.get(from).copied() else {
        return Vec::new();
    };
    let old = nonce_of(events);
    let mut called = called_tools(events);
    let is_before = |at: usize| {
        let waited_for = plan.steps[from].visible.contains(at);
        waited_for || at < from && !plan.steps[at].visible.contains(from)
    };
    let before = plan.steps.iter().enumerate();
    before
        .filter(|(at, _)| is_before(*at))
        .filter_map(|(_, planned)| {
            let id = &planned.step.id;
            let ending = events.iter().rev().find_map(|event| step_end(event, id));
            let (mut value, mut error) = ending?;
            if let Some(value) = &mut value {
                rekey(value, old, nonce);
            }
            if let Some(failure) = &mut error {
                rekey_text(&mut failure.message, old, nonce);
            }
            Some(Event::Reused {
                path: Path::new("", id, None),
                value,
                error,
                called: called.remove(id.as_str()).unwrap_or_default(),
            })
        })
        .collect()
}

/// Returns the nonce of the earlier run's placeholders.
fn nonce_of(events: &[Event]) -> &str {
    let started = events.iter().find_map(|event| {
        let Event::Started(started) = event else {
            return None;
        };
        Some(started.nonce.as_str())
    });
    started.unwrap_or_default()
}

/// Returns the tools that were called successfully, by the outermost step that called them.
fn called_tools(events: &[Event]) -> HashMap<&str, Vec<String>> {
    let mut begun: HashMap<&Path, &str> = HashMap::new();
    let mut called: HashMap<&str, Vec<String>> = HashMap::new();
    for event in events {
        match event {
            Event::Begun(intent) => match intent.call.tool() {
                Some((tool, _)) => drop(begun.insert(&intent.path, tool)),
                None => drop(begun.remove(&intent.path)),
            },
            Event::Ended(ended) if ended.next == Next::Done => {
                let tool = begun.get(&ended.path).map(|tool| (*tool).to_owned());
                let tools = tool.into_iter().chain(ended.called.iter().cloned());
                called.entry(ended.path.first()).or_default().extend(tools);
            }
            Event::Reused {
                path, called: by, ..
            } => {
                let tools = called.entry(path.first()).or_default();
                tools.extend(by.iter().cloned());
            }
            Event::Prepared(_)
            | Event::Started(_)
            | Event::Skipped { .. }
            | Event::Listed { .. }
            | Event::Asked { .. }
            | Event::Answered { .. }
            | Event::Ended(_)
            | Event::Agent { .. }
            | Event::Healed { .. }
            | Event::Woken { .. }
            | Event::Entered { .. }
            | Event::Continued { .. }
            | Event::Expired { .. }
            | Event::Closed { .. }
            | Event::Stopped { .. }
            | Event::Recovered { .. }
            | Event::Resumed { .. }
            | Event::Finished(_) => {}
        }
    }
    for tools in called.values_mut() {
        tools.sort();
        tools.dedup();
    }
    called
}

type StepEnd = (Option<Value>, Option<Failure>);

/// Returns the result of a step, if `event` ends it well.
fn step_end(event: &Event, step: &str) -> Option<StepEnd> {
    let is = |path: &Path| path.as_str() == step;
    match event {
        Event::Reused {
            path, value, error, ..
        } if is(path) => Some((value.clone(), error.clone())),
        Event::Skipped { path, .. } if is(path) => Some((None, None)),
        Event::Closed {
            path,
            values,
            error: None,
            ..
        } if is(path) => Some((Some(Value::Array(values.clone())), None)),
        Event::Ended(ended) if is(&ended.path) => ended_well(ended),
        Event::Prepared(_)
        | Event::Started(_)
        | Event::Reused { .. }
        | Event::Skipped { .. }
        | Event::Listed { .. }
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Begun(_)
        | Event::Ended(_)
        | Event::Agent { .. }
        | Event::Healed { .. }
        | Event::Woken { .. }
        | Event::Entered { .. }
        | Event::Continued { .. }
        | Event::Expired { .. }
        | Event::Closed { .. }
        | Event::Stopped { .. }
        | Event::Recovered { .. }
        | Event::Resumed { .. }
        | Event::Finished(_) => None,
    }
}

fn ended_well(ended: &CallEnd) -> Option<StepEnd> {
    match (&ended.next, &ended.error) {
        (Next::Done, None) => Some((ended.value.as_deref().cloned(), None)),
        (Next::Tolerate, Some(failure)) => {
            Some((Some(tolerated_value(failure)), Some(failure.clone())))
        }
        _ => None,
    }
}
