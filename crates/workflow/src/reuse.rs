//! What of an earlier run counts again when a run is made from it (`rerun --from`).

use deft_model::Failure;
use serde_json::Value;

use crate::event::{Ended, Event, Next};
use crate::progress::tolerated;
use crate::{Path, Plan};

/// The steps before `from`, as they ended in an earlier run. One that did not end well, or not at
/// all, is not among them and is done again.
pub fn reuse(plan: &Plan, events: &[Event], from: &str) -> Vec<Event> {
    let before = plan.steps().take_while(|step| step.id != from);
    before
        .filter_map(|step| {
            let ending = events
                .iter()
                .rev()
                .find_map(|event| ending(event, &step.id));
            let (value, error) = ending?;
            Some(Event::Reused {
                path: Path::new("", &step.id, None),
                value,
                error,
            })
        })
        .collect()
}

type Ending = (Option<Value>, Option<Failure>);

/// How a step ended, if this event says so.
fn ending(event: &Event, step: &str) -> Option<Ending> {
    let is = |path: &Path| path.as_str() == step;
    match event {
        Event::Reused { path, value, error } if is(path) => Some((value.clone(), error.clone())),
        Event::Skipped { path, .. } if is(path) => Some((None, None)),
        Event::Closed {
            path,
            values,
            error: None,
            ..
        } if is(path) => Some((Some(Value::Array(values.clone())), None)),
        Event::Ended(ended) if is(&ended.path) => ended_well(ended),
        _ => None,
    }
}

fn ended_well(ended: &Ended) -> Option<Ending> {
    match (&ended.next, &ended.error) {
        (Next::Done, None) => Some((ended.value.as_deref().cloned(), None)),
        (Next::Tolerate, Some(failure)) => Some((Some(tolerated(failure)), Some(failure.clone()))),
        _ => None,
    }
}
