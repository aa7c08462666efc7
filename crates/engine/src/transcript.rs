//! The events of a run in memory, for a caller that shows the run when it has ended. Reading a short run back
//! from the store takes a third of the processor time of a request over HTTP.
//!
//! Not here: runs that waited, were resumed or are long. They are read from the store.

use deft_store::Write;
use deft_workflow::Event;
use jiff::Timestamp;
use parking_lot::Mutex;

/// Maximum number of events that are kept.
const MAX_EVENTS: usize = 256;

/// The events of one run, beginning with its first event.
#[derive(Debug, Default)]
pub struct Transcript(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    events: Vec<(Timestamp, Event)>,
    /// Whether the store has more about the run than its events, or too many events.
    is_incomplete: bool,
}

impl Transcript {
    /// Adds the events of a stored batch; `has_notice` says whether a notice was stored with them.
    pub(crate) fn add(&self, events: &[(Timestamp, Event)], has_notice: bool) {
        let mut entries = self.0.lock();
        let is_long = entries.events.len() + events.len() > MAX_EVENTS;
        if entries.is_incomplete || is_long || has_notice {
            *entries = Entries {
                events: Vec::new(),
                is_incomplete: true,
            };
            return;
        }
        entries.events.extend_from_slice(events);
    }

    /// Returns all events of a run that has ended; `None` if they must be read from the store.
    pub(crate) fn take(&self) -> Option<Vec<(Timestamp, Event)>> {
        let events = std::mem::take(&mut self.0.lock().events);
        let last = events.last().map(|(_, event)| event);
        matches!(last, Some(Event::Finished(_))).then_some(events)
    }
}

/// Whether a batch contains a notice.
pub(crate) fn has_notice(writes: &[Write]) -> bool {
    let mut writes = writes.iter();
    writes.any(|write| matches!(write, Write::Notice { .. }))
}

#[cfg(test)]
mod tests {
    use deft_model::Outcome;
    use deft_workflow::RunEnd;
    use serde_json::Value;

    use super::*;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn stop() -> (Timestamp, Event) {
        let failure = deft_model::Failure::new(deft_model::FailureClass::Other, "stop");
        (AT, Event::Stopped { failure })
    }

    fn end() -> (Timestamp, Event) {
        let end = RunEnd {
            outcome: Outcome::Success,
            outputs: Value::Null,
            error: None,
            ms: 1,
        };
        (AT, Event::Finished(end))
    }

    fn count_taken(batches: &[(&[(Timestamp, Event)], bool)]) -> Option<usize> {
        let transcript = Transcript::default();
        for (events, has_notice) in batches {
            transcript.add(events, *has_notice);
        }
        transcript.take().map(|events| events.len())
    }

    #[test]
    fn only_complete_transcripts_are_read_from_memory() {
        assert_eq!(
            count_taken(&[(&[stop()], false), (&[end()], false)]),
            Some(2)
        );
        assert_eq!(count_taken(&[(&[stop()], false)]), None);
        assert_eq!(count_taken(&[(&[stop()], true), (&[end()], false)]), None);
        let many = vec![stop(); MAX_EVENTS];
        assert_eq!(count_taken(&[(&many, false), (&[end()], false)]), None);
        let fewer = count_taken(&[(&many[1..], false), (&[end()], false)]);
        assert_eq!(fewer, Some(MAX_EVENTS));
    }
}
