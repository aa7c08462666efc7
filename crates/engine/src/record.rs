//! The journal of a driver: events are stored first, and published afterwards.

use std::sync::Arc;
use std::time::Duration;

use deft_model::{RunId, WaitKind};
use deft_store::{AppendResult, Batch, Lease, RunState, WaitReason, Write};
use deft_workflow::Event;
use jiff::Timestamp;

use crate::engine::Inner;
use crate::event_json::encode_all;
use crate::published_event::PublishedEvent;
use crate::transcript::has_notice;
use crate::{Error, Transcript};

/// Events that have been applied but not stored yet. Only the driver sees them.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    events: Vec<(Timestamp, Event)>,
    writes: Vec<Write>,
    /// Receives the events after they are stored.
    transcript: Option<Arc<Transcript>>,
}

impl Journal {
    /// Returns a journal that copies stored events to `transcript`.
    pub(crate) fn kept_in(transcript: Option<Arc<Transcript>>) -> Self {
        Self {
            transcript,
            ..Self::default()
        }
    }

    /// Copies stored events to the transcript, if there is one.
    pub(crate) fn keep(&self, events: &[(Timestamp, Event)], has_notice: bool) {
        if let Some(transcript) = &self.transcript {
            transcript.add(events, has_notice);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.writes.is_empty()
    }

    pub(crate) fn push(&mut self, at: Timestamp, event: Event) {
        self.events.push((at, event));
    }

    pub(crate) fn extend(&mut self, at: Timestamp, events: impl IntoIterator<Item = Event>) {
        self.events
            .extend(events.into_iter().map(|event| (at, event)));
    }

    pub(crate) fn write(&mut self, writes: impl IntoIterator<Item = Write>) {
        self.writes.extend(writes);
    }

    /// Returns the batch to store, and the events to publish after that.
    pub(crate) fn take(&mut self, then: RunState) -> (Batch, Vec<(Timestamp, Event)>) {
        let events = std::mem::take(&mut self.events);
        let batch = Batch {
            events: encode_all(&events),
            writes: std::mem::take(&mut self.writes),
            then,
        };
        (batch, events)
    }
}

/// Delays between attempts to store if the store is locked or full.
const RETRY_DELAYS: [Duration; 4] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(20),
];

/// Whether an error of the store is likely to be temporary.
pub(crate) fn is_passing(error: &deft_store::Error) -> bool {
    use deft_store::Error;
    matches!(error, Error::Locked { .. } | Error::Full { .. })
}

impl Inner {
    /// Stores the events and writes of a driver, then publishes the events.
    pub(crate) async fn commit(
        &self,
        lease: &Lease,
        skill: &str,
        journal: &mut Journal,
        then: RunState,
    ) -> Result<AppendResult, Error> {
        let writes = journal.writes.clone();
        let (mut batch, events) = journal.take(then.clone());
        let mut waits = RETRY_DELAYS.into_iter();
        let appended = loop {
            let error = match self.parts.store.append(lease, batch).await {
                Ok(appended) => break appended,
                Err(error) => error,
            };
            let (true, Some(wait)) = (is_passing(&error), waits.next()) else {
                return Err(error.into());
            };
            // Only this process has these results, so retrying is worth the wait.
            tracing::warn!(run = %lease.run, %error, "results could not be stored; retrying");
            let later = self.now().saturating_add(wait);
            let later = later.unwrap_or(Timestamp::MAX);
            self.parts.clock.sleep_until(later).await;
            batch = Batch {
                events: encode_all(&events),
                writes: writes.clone(),
                then: then.clone(),
            };
        };
        journal.keep(&events, has_notice(&writes));
        self.publish_all(&lease.run, skill, appended.first_seq, events);
        Ok(appended)
    }

    /// Releases the lease of a driver that could not store its results, so that the run is due again. If that
    /// fails too, it is retried before the next run is claimed.
    pub(crate) async fn give_back(&self, lease: Lease) {
        self.abandoned_leases().push(lease);
        self.give_back_all().await;
    }

    pub(crate) async fn give_back_all(&self) {
        let leases = std::mem::take(&mut *self.abandoned_leases());
        for lease in leases {
            let batch = Batch {
                then: RunState::Park {
                    wake_at: Some(self.now()),
                    waiting_for: WaitReason {
                        kind: WaitKind::Record,
                        text: "its record to be stored".to_owned(),
                    },
                },
                ..Batch::default()
            };
            match self.parts.store.append(&lease, batch).await {
                Err(error) if is_passing(&error) => self.abandoned_leases().push(lease),
                Err(error) => {
                    tracing::warn!(run = %lease.run, %error, "a lease could not be released")
                }
                Ok(_) => {}
            }
        }
    }

    pub(crate) fn publish_all(
        &self,
        run: &RunId,
        skill: &str,
        first_seq: u64,
        events: Vec<(Timestamp, Event)>,
    ) {
        if !self.has_listeners() {
            return;
        }
        for (seq, (at, event)) in (first_seq..).zip(events) {
            self.publish(PublishedEvent {
                seq,
                at,
                run: run.clone(),
                skill: skill.to_owned(),
                event,
            });
        }
    }
}
