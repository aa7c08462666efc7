//! The one reader of the store for all clients.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use deft_service::App;
use deft_service::runs::{self, EventBell};
use deft_wire::event::EventView;
use parking_lot::Mutex;
use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How many events a client may fall behind before it has to read the store again.
const BUFFER: usize = 1024;

/// The shortest time between two looks: with many clients and many events, each client gets several events with one
/// write. An event that comes alone is handed out at once.
const PACE: Duration = Duration::from_millis(10);

/// How many events are read at once.
pub(crate) const PAGE: u32 = 500;

/// An event, written once for all clients.
#[derive(Debug)]
pub(crate) struct FeedEvent {
    pub(crate) seq: u64,
    pub(crate) run: String,
    pub(crate) skill: String,
    /// As bytes that all clients share.
    pub(crate) text: Utf8Bytes,
}

impl From<EventView> for FeedEvent {
    fn from(event: EventView) -> Self {
        Self {
            seq: event.seq,
            run: event.execution_id.to_string(),
            // An event is made of texts and numbers, so it can always be written.
            text: serde_json::to_string(&event).unwrap_or_default().into(),
            skill: event.skill,
        }
    }
}

/// Hands out new events.
pub(crate) struct Hub {
    sender: broadcast::Sender<Arc<FeedEvent>>,
    state: Mutex<HubState>,
    wanted: Notify,
}

struct HubState {
    /// The last event that was handed out.
    position: u64,
    /// No client listens, so nothing is read.
    is_idle: bool,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            sender: broadcast::channel(BUFFER).0,
            state: Mutex::new(HubState {
                position: 0,
                is_idle: true,
            }),
            wanted: Notify::new(),
        }
    }

    /// New events from now on. `newest` is a place that the caller read before: everything behind it comes.
    pub(crate) fn listen(&self, newest: u64) -> broadcast::Receiver<Arc<FeedEvent>> {
        let receiver = {
            let mut state = self.state.lock();
            let receiver = self.sender.subscribe();
            if state.is_idle {
                state.position = newest;
                state.is_idle = false;
            }
            receiver
        };
        self.wanted.notify_one();
        receiver
    }

    /// Reads new events and hands them out until the daemon stops.
    pub(crate) async fn follow(&self, app: &App, stop: &CancellationToken) {
        tokio::select! {
            () = self.follow_on(app) => {}
            () = stop.cancelled() => {}
        }
    }

    async fn follow_on(&self, app: &App) {
        loop {
            self.wanted.notified().await;
            // Only now: an engine without listeners publishes nothing.
            let mut bell = EventBell::listen(app);
            while !self.rest() {
                let looked = Instant::now();
                self.hand_out(app).await;
                bell.wait().await;
                tokio::time::sleep_until(looked + PACE).await;
            }
        }
    }

    /// Rests if no client listens.
    fn rest(&self) -> bool {
        let mut state = self.state.lock();
        state.is_idle = self.sender.receiver_count() == 0;
        state.is_idle
    }

    /// Hands out everything that is stored behind the last event.
    async fn hand_out(&self, app: &App) {
        loop {
            let after = self.state.lock().position;
            let page = match runs::events_after(app, after, PAGE).await {
                Ok(page) => page,
                Err(failure) => {
                    tracing::warn!("live events cannot be read: {}", failure.message);
                    return;
                }
            };
            for event in page.events {
                // Without a client there is nothing to do.
                drop(self.sender.send(Arc::new(event.into())));
            }
            self.state.lock().position = page.last;
            if !page.more {
                return;
            }
        }
    }
}
