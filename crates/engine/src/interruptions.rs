//! Where a run stopped in the middle and was continued, and how long it waited: read from its journal.

use deft_agent::EventKind;
use deft_wire::interruption::{Interruption, InterruptionCause};
use deft_workflow::Event;
use jiff::Timestamp;

/// The interruptions of a run, oldest first.
pub(crate) fn interruptions(events: &[(Timestamp, Event)]) -> Vec<Interruption> {
    let mut found = Vec::new();
    let mut ended = None;
    for (at, event) in events {
        if let Event::Recovered { interrupted_at } = event {
            found.push(Interruption {
                interrupted_at: *interrupted_at,
                resumed_at: *at,
                cause: InterruptionCause::ProcessEnded,
                by: None,
            });
        } else if let Event::Resumed { by } = event {
            found.push(Interruption {
                interrupted_at: ended.unwrap_or(*at),
                resumed_at: *at,
                cause: InterruptionCause::RunEnded,
                by: Some(by.clone()),
            });
        } else if let Event::Finished(_) = event {
            ended = Some(*at);
        }
    }
    found
}

/// How long a run waited for a person, or to be continued. Waits that overlap count once.
pub(crate) fn waited_ms(events: &[(Timestamp, Event)]) -> u64 {
    let mut waits: Vec<(Timestamp, Timestamp)> = interruptions(events)
        .into_iter()
        .map(|gap| (gap.interrupted_at, gap.resumed_at))
        .collect();
    waits.extend(answered_questions(events));
    waits.sort_unstable();
    let (mut total, mut counted) = (0, Timestamp::MIN);
    for (from, to) in waits {
        let from = from.max(counted);
        if to > from {
            total += to.as_millisecond() - from.as_millisecond();
            counted = to;
        }
    }
    u64::try_from(total).unwrap_or_default()
}

/// When people were asked, and when they answered.
fn answered_questions(events: &[(Timestamp, Event)]) -> Vec<(Timestamp, Timestamp)> {
    let mut open: Vec<(String, Timestamp)> = Vec::new();
    let mut waits = Vec::new();
    for (at, event) in events {
        let Some((place, asks)) = question(event) else {
            continue;
        };
        if asks {
            open.push((place, *at));
        } else if let Some(found) = open.iter().position(|(asked, _)| *asked == place) {
            waits.push((open.remove(found).1, *at));
        }
    }
    waits
}

/// The place of a question, and whether it is asked or answered.
fn question(event: &Event) -> Option<(String, bool)> {
    match event {
        Event::Asked { path, .. } => Some((path.to_string(), true)),
        Event::Answered { path, .. } => Some((path.to_string(), false)),
        Event::Agent { path, event } => {
            if let EventKind::Question { turn, call, .. } = &event.what {
                Some((format!("{path} {:?} {turn}.{call}", event.agent), true))
            } else if let EventKind::Answered { turn, call, .. } = &event.what {
                Some((format!("{path} {:?} {turn}.{call}", event.agent), false))
            } else {
                None
            }
        }
        Event::Prepared(_)
        | Event::Started(_)
        | Event::Reused { .. }
        | Event::Skipped { .. }
        | Event::Listed { .. }
        | Event::Begun(_)
        | Event::Ended(_)
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
