//! Events of all runs in the order of the store, regardless of the process that drives them.

use std::sync::Arc;
use std::time::Duration;

use deft_engine::{EventPage, PublishedEvent};
use deft_model::RunId;
use deft_wire::Done;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::app::{self, App};
use crate::store;

/// Maximum wait for an event of this process before the store is checked; other processes store events too.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Returns at most `limit` events of one run, or of all runs, after the position `after`.
pub async fn events_after(
    app: &App,
    run: Option<&RunId>,
    after: u64,
    limit: u32,
) -> Done<EventPage> {
    let read = app.engine.public_events_after(run, after, limit).await;
    read.map_err(|error| app::failure(&error))
}

/// Returns a number that changes with every change of the store.
pub async fn version(app: &App) -> Done<u64> {
    let version = app.engine.store().version().await;
    version.map_err(|error| store::failure(&error))
}

/// Returns the position of the newest event.
pub async fn newest_event(app: &App) -> Done<u64> {
    let newest = app.engine.store().newest_event().await;
    newest.map_err(|error| store::failure(&error))
}

/// Signals that new events may have been stored.
pub struct EventBell {
    events: Receiver<Arc<PublishedEvent>>,
}

impl EventBell {
    /// Subscribes to the events of this process.
    pub fn listen(app: &App) -> Self {
        Self {
            events: app.engine.subscribe(),
        }
    }

    /// Waits until the store should be read again.
    pub async fn wait(&mut self) {
        match tokio::time::timeout(POLL_INTERVAL, self.events.recv()).await {
            Ok(Ok(_) | Err(RecvError::Lagged(_))) => {}
            // The engine is closed; the caller is about to end too.
            Ok(Err(RecvError::Closed)) => tokio::time::sleep(POLL_INTERVAL).await,
            Err(_) => return,
        }
        // One read of the store covers all events received meanwhile.
        while let Ok(_) | Err(TryRecvError::Lagged(_)) = self.events.try_recv() {}
    }
}
