//! Events of all runs by their place in the store, whichever process drives them.

use std::sync::Arc;
use std::time::Duration;

use deft_engine::PublishedEvent;
use deft_wire::Done;
use deft_wire::event::EventView;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::app::{self, App};
use crate::store;

/// How long to wait for an event of this process before the store is looked at; others store events too.
const LOOK: Duration = Duration::from_millis(500);

/// Some events of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPage {
    /// The events, oldest first.
    pub events: Vec<EventView>,
    /// How far the store was read.
    pub last: u64,
    /// Whether there may be more.
    pub more: bool,
}

/// Events behind a place of the store.
pub async fn events_after(app: &App, after: u64, limit: u32) -> Done<FeedPage> {
    let read = app.engine.public_events_after(after, limit).await;
    let (events, last) = read.map_err(|error| app::failure(&error))?;
    let more = last - after >= u64::from(limit);
    Ok(FeedPage { events, last, more })
}

/// A number that changes with every change of the store.
pub async fn version(app: &App) -> Done<u64> {
    let version = app.engine.store().version().await;
    version.map_err(|error| store::failure(&error))
}

/// The place of the newest event.
pub async fn newest_event(app: &App) -> Done<u64> {
    let newest = app.engine.store().newest_event().await;
    newest.map_err(|error| store::failure(&error))
}

/// Tells when events may have been stored.
pub struct EventBell {
    events: Receiver<Arc<PublishedEvent>>,
}

impl EventBell {
    /// Listens to the events of this process.
    pub fn listen(app: &App) -> Self {
        Self {
            events: app.engine.subscribe(),
        }
    }

    /// Waits until it is worth to look at the store.
    pub async fn wait(&mut self) {
        match tokio::time::timeout(LOOK, self.events.recv()).await {
            Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
            // The engine is gone; the caller is about to end too.
            Ok(Err(RecvError::Closed)) => tokio::time::sleep(LOOK).await,
            Err(_) => return,
        }
        // One look sees everything that came meanwhile.
        while let Ok(_) | Err(TryRecvError::Lagged(_)) = self.events.try_recv() {}
    }
}
