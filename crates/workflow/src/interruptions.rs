//! Interruptions of runs, and their idle time, derived from their journal.

use deft_agent::EventKind;
use deft_model::EventType;
use deft_wire::interruption::{IdleTime, Interruption, InterruptionCause};
use jiff::Timestamp;

use crate::event::Event;

/// Returns the interruptions of a run, oldest first.
pub fn interruptions(events: &[(Timestamp, Event)]) -> Vec<Interruption> {
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

/// Returns how long a run waited for people, and how long it was interrupted. An interruption while it waited
/// for a person counts as waiting.
pub fn idle_time(events: &[(Timestamp, Event)]) -> IdleTime {
    let mut gaps = questions(events);
    let waited_ms = covered_ms(&mut gaps);
    let interrupted = interruptions(events).into_iter();
    gaps.extend(interrupted.map(|gap| (gap.interrupted_at, gap.resumed_at)));
    IdleTime {
        waited_ms,
        interrupted_ms: covered_ms(&mut gaps) - waited_ms,
    }
}

/// Whether events of this type affect the idle time; others need not be decoded for it.
pub fn tells_idle_time(event: EventType) -> bool {
    const TYPES: [EventType; 6] = [
        EventType::Asked,
        EventType::Answered,
        EventType::Agent,
        EventType::Recovered,
        EventType::Resumed,
        EventType::Finished,
    ];
    TYPES.contains(&event)
}

/// Returns the total length of the intervals; overlaps count once.
fn covered_ms(stretches: &mut [(Timestamp, Timestamp)]) -> u64 {
    stretches.sort_unstable();
    let (mut total, mut counted) = (0, Timestamp::MIN);
    for &(from, to) in &*stretches {
        let from = from.max(counted);
        if to > from {
            total += to.as_millisecond() - from.as_millisecond();
            counted = to;
        }
    }
    u64::try_from(total).unwrap_or_default()
}

/// Returns the intervals between questions and their answers, or the end of the run.
fn questions(events: &[(Timestamp, Event)]) -> Vec<(Timestamp, Timestamp)> {
    let mut open: Vec<(String, Timestamp)> = Vec::new();
    let mut waits = Vec::new();
    for (at, event) in events {
        if let Event::Finished(_) = event {
            waits.extend(open.drain(..).map(|(_, asked)| (asked, *at)));
        }
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

/// Returns the place of a question, and whether it is asked or answered.
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(events: &[(i64, Value)]) -> IdleTime {
        let event = |(second, json): &(i64, Value)| {
            let at = Timestamp::from_second(*second).unwrap();
            (at, serde_json::from_value(json.clone()).unwrap())
        };
        let events: Vec<(Timestamp, Event)> = events.iter().map(event).collect();
        assert!(
            events
                .iter()
                .all(|(_, event)| tells_idle_time(event.event_type()))
        );
        idle_time(&events)
    }

    fn asked_value() -> Value {
        json!({"asked": {"path": "a", "message": "go?", "default": true, "operation": {"kind": "tool"}}})
    }

    fn recovered_value(last_sign: i64) -> Value {
        let last_sign = Timestamp::from_second(last_sign).unwrap();
        json!({"recovered": {"interrupted_at": last_sign}})
    }

    /// An interruption counts as waiting only while the run waits for a person anyway.
    #[test]
    fn waits_and_outages_are_distinguished() {
        let answered = json!({"answered": {"path": "a", "answer": "yes", "by": "ada"}});
        let finished =
            json!({"finished": {"outcome": "cancelled", "outputs": null, "error": null, "ms": 9}});
        let idle = |waited_ms, interrupted_ms| IdleTime {
            waited_ms,
            interrupted_ms,
        };
        let cases = [
            (
                vec![(10, asked_value()), (14, answered.clone())],
                idle(4000, 0),
            ),
            (vec![(10, recovered_value(3))], idle(0, 7000)),
            (
                vec![
                    (10, asked_value()),
                    (20, recovered_value(12)),
                    (30, answered),
                ],
                idle(20_000, 0),
            ),
            (
                vec![(20, recovered_value(8)), (20, asked_value())],
                idle(0, 12_000),
            ),
            (vec![(10, asked_value()), (16, finished)], idle(6000, 0)),
        ];
        for (events, expected) in cases {
            assert_eq!(read(&events), expected, "{events:?}");
        }
    }
}
