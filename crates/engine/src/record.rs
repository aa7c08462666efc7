//! The journal of a driver: events are stored first, and published afterwards.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deft_model::RunId;
use deft_store::{AppendResult, Batch, Lease, RunState, Write};
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

    /// Returns what the next batch stores.
    pub(crate) fn take(&mut self) -> (Vec<(Timestamp, Event)>, Vec<Write>) {
        (
            std::mem::take(&mut self.events),
            std::mem::take(&mut self.writes),
        )
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
        let (events, writes) = journal.take();
        let batch = || Batch {
            events: encode_all(&events),
            writes: writes.clone(),
            then: then.clone(),
        };
        let store = &self.parts.store;
        let stored = self.retry(&lease.run, || store.append(lease, batch()));
        let appended = stored.await?;
        let has_notice = has_notice(&writes);
        journal.keep(&events, has_notice);
        self.publish_all(&lease.run, skill, appended.first_seq, events);
        if has_notice {
            self.base.bells().messages.notify_waiters();
        }
        Ok(appended)
    }

    /// Stores what a driver knows about a run, and again after a delay while the store is locked or full: no
    /// other process has these results.
    pub(crate) async fn retry<T, E, A>(
        &self,
        run: &RunId,
        mut attempt: impl FnMut() -> A,
    ) -> Result<T, Error>
    where
        A: Future<Output = Result<T, E>>,
        E: Into<Error>,
    {
        let mut delays = RETRY_DELAYS.into_iter();
        loop {
            let error = match attempt().await {
                Ok(stored) => return Ok(stored),
                Err(error) => error.into(),
            };
            let passes = matches!(&error, Error::Store(error) if is_passing(error));
            let (true, Some(delay)) = (passes, delays.next()) else {
                return Err(error);
            };
            tracing::warn!(%run, %error, "results could not be stored; retrying");
            let later = self.now().saturating_add(delay);
            let later = later.unwrap_or(Timestamp::MAX);
            self.parts.clock.sleep_until(later).await;
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
