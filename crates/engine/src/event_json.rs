//! Events as the store keeps them: JSON texts.

use deft_model::{Choice, RunId};
use deft_store::{NewEvent, StoredEvent};
use deft_workflow::Event;
use jiff::Timestamp;

use crate::Error;

/// Returns events as they are stored.
pub(crate) fn encode_all(events: &[(Timestamp, Event)]) -> Vec<NewEvent> {
    let encoded = events.iter().map(|(at, event)| encode(*at, event));
    encoded.collect()
}

/// Initial buffer size, larger than most events: a growing buffer is copied.
const INITIAL_CAPACITY: usize = 512;

/// Returns an event as it is stored.
pub(crate) fn encode(at: Timestamp, event: &Event) -> NewEvent {
    let mut body = Vec::with_capacity(INITIAL_CAPACITY);
    let written = serde_json::to_writer(&mut body, event);
    let body = written.ok().and_then(|()| String::from_utf8(body).ok());
    NewEvent {
        at,
        kind: event.event_type().word().to_owned(),
        // Events consist of JSON values and texts; writing them as JSON cannot fail.
        body: body.unwrap_or_default(),
    }
}

pub(crate) fn decode_events(
    run: &RunId,
    stored: &[StoredEvent],
) -> Result<Vec<(Timestamp, Event)>, Error> {
    let one = |stored: &StoredEvent| Ok((stored.at, decode_event(run, stored)?));
    stored.iter().map(one).collect()
}

/// Parses a stored event.
pub(crate) fn decode_event(run: &RunId, stored: &StoredEvent) -> Result<Event, Error> {
    serde_json::from_str(&stored.body).map_err(|error| Error::Replay {
        run: run.to_string(),
        why: format!("event {} cannot be read: {error}", stored.seq),
    })
}

#[cfg(test)]
mod tests {
    use deft_model::RunOrigin;
    use deft_workflow::RunStart;
    use serde_json::json;

    use super::*;

    /// A replay reads exactly the same numbers, including those that a fast parser gets wrong in the last
    /// bit.
    #[test]
    fn numbers_round_trip() {
        let inputs = json!({ "a": 31.245_270_191_439_438, "b": 0.1, "c": 1e300, "d": u64::MAX });
        let event = Event::Started(RunStart {
            skill: "s".to_owned(),
            revision: "r".to_owned(),
            execution_id: "run_1".to_owned(),
            workspace_uri: String::new(),
            inputs: inputs.as_object().cloned().unwrap_or_default(),
            nonce: "n".to_owned(),
            check_failed: None,
            authority: None,
            origin: RunOrigin::default(),
        });
        let NewEvent { at, kind, body } = encode(Timestamp::UNIX_EPOCH, &event);
        let run = RunId::new("run_1");
        let stored = StoredEvent {
            seq: 1,
            run: run.clone(),
            at,
            kind,
            body,
        };
        let decoded = decode_events(&run, &[stored]).ok();
        assert_eq!(decoded, Some(vec![(at, event)]));
    }
}
