//! Stored events as listeners receive them.

use deft_model::RunId;
use deft_store::{RunRow, StoredEvent};
use deft_wire::event::EventView;
use deft_workflow::{Event, public};
use jiff::Timestamp;

use crate::Error;
use crate::event_json::decode_event;

/// A stored event as listeners receive it.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedEvent {
    /// Its sequence number among all events of the store.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// The run.
    pub run: RunId,
    /// The skill.
    pub skill: String,
    /// The event.
    pub event: Event,
}

impl PublishedEvent {
    /// Parses a stored event of a run.
    pub(crate) fn read(run: &RunRow, stored: StoredEvent) -> Result<Self, Error> {
        Ok(Self {
            event: decode_event(&run.id, &stored)?,
            seq: stored.seq,
            at: stored.at,
            run: stored.run,
            skill: run.skill.clone(),
        })
    }

    /// Returns the public form of the event (S3.30); `None` if it has none.
    pub fn public(&self) -> Option<EventView> {
        Some(EventView {
            seq: self.seq,
            at: self.at,
            execution_id: self.run.clone(),
            skill: self.skill.clone(),
            body: public(&self.event)?,
        })
    }
}
