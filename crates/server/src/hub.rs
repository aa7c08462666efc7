//! The task that reads new events from the store for all feed clients.

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

/// Number of events that a client may fall behind before it has to read the store again.
const BUFFER: usize = 1024;

/// Minimum time between two reads of the store. With many clients and events, each client gets several events
/// per write. A single event is still delivered immediately.
const MIN_READ_INTERVAL: Duration = Duration::from_millis(10);

/// Number of events read at once.
pub(crate) const PAGE: u32 = 500;

/// An event, serialized once for all clients.
#[derive(Debug)]
pub(crate) struct FeedEvent {
    pub(crate) seq: u64,
    pub(crate) run: String,
    pub(crate) skill: String,
    /// JSON of the event, as bytes shared by all clients.
    pub(crate) text: Utf8Bytes,
}

impl From<EventView> for FeedEvent {
    fn from(event: EventView) -> Self {
        Self {
            seq: event.seq,
            run: event.execution_id.to_string(),
            // An event consists of strings and numbers, so serialization cannot fail.
            text: serde_json::to_string(&event).unwrap_or_default().into(),
            skill: event.skill,
        }
    }
}

/// Broadcasts new events to feed clients.
pub(crate) struct Hub {
    sender: broadcast::Sender<Arc<FeedEvent>>,
    state: Mutex<HubState>,
    wanted: Notify,
}

struct HubState {
    /// Sequence number of the last broadcast event.
    position: u64,
    /// Whether no client listens; then nothing is read.
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

    /// Subscribes to new events. If no client listened before, the hub starts after `newest`, a position that
    /// the caller has read.
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

    /// Reads and broadcasts new events until the daemon stops.
    pub(crate) async fn follow(&self, app: &App, stop: &CancellationToken) {
        tokio::select! {
            () = self.follow_forever(app) => {}
            () = stop.cancelled() => {}
        }
    }

    async fn follow_forever(&self, app: &App) {
        loop {
            self.wanted.notified().await;
            // Subscribe only now: an engine without listeners publishes nothing.
            let mut bell = EventBell::listen(app);
            while !self.mark_idle() {
                let looked = Instant::now();
                self.broadcast_new_events(app).await;
                bell.wait().await;
                tokio::time::sleep_until(looked + MIN_READ_INTERVAL).await;
            }
        }
    }

    /// Marks the hub as idle if no client listens, and returns whether it is idle.
    fn mark_idle(&self) -> bool {
        let mut state = self.state.lock();
        state.is_idle = self.sender.receiver_count() == 0;
        state.is_idle
    }

    /// Broadcasts all events stored after the last one.
    async fn broadcast_new_events(&self, app: &App) {
        loop {
            let after = self.state.lock().position;
            let page = match runs::events_after(app, None, after, PAGE).await {
                Ok(page) => page,
                Err(failure) => {
                    tracing::warn!("live events cannot be read: {}", failure.message);
                    return;
                }
            };
            for event in page.events {
                // Sending fails only if no client listens.
                drop(self.sender.send(Arc::new(event.into())));
            }
            self.state.lock().position = page.last;
            if !page.more {
                return;
            }
        }
    }
}
