//! One client of the feed: stored events first, then live ones.

use std::collections::VecDeque;
use std::sync::Arc;

use deft_service::runs;
use deft_wire::event::ResyncEvent;
use deft_wire::model::RunId;
use deft_wire::{Done, Failure};
use jiff::Timestamp;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::FeedQuery;
use crate::context::Server;
use crate::hub::{FeedEvent, PAGE};

/// Next item for a client.
pub(crate) enum News {
    /// An event.
    Event(Arc<FeedEvent>),
    /// The client was too slow; the missed events are read again from the store.
    Resync(String),
    /// The feed has ended.
    End,
}

/// A client of the feed.
pub(crate) struct Subscription {
    server: Arc<Server>,
    /// What the client wants, with the whole id of the run.
    query: FeedQuery,
    /// The run that the client wants, if it wants only one.
    run: Option<RunId>,
    live: Receiver<Arc<FeedEvent>>,
    /// Sequence number of the last event that was returned or filtered out.
    last: u64,
    /// Stored events that were read but not yet returned.
    read: VecDeque<Arc<FeedEvent>>,
    /// Whether the store may have events after `last`.
    behind: bool,
    _place: OwnedSemaphorePermit,
}

impl Subscription {
    /// Subscribes to live events first and reads stored events later, so none is missed in between.
    pub(crate) async fn open(server: Arc<Server>, query: FeedQuery) -> Done<Self> {
        let place = Arc::clone(&server.feeds).try_acquire_owned();
        let place = place.map_err(|_| {
            let message = format!(
                "the live feed already has {} clients, the maximum",
                server.limits.feeds
            );
            Failure::input("too_many_requests", message).hint("close some of them")
        })?;
        let run = find_run(&server, query.run).await?;
        let query = FeedQuery {
            run: run.as_ref().map(ToString::to_string),
            ..query
        };
        let newest = runs::newest_event(&server.app).await?;
        let live = server.hub.listen(newest);
        Ok(Self {
            last: query.after.unwrap_or(newest),
            live,
            server,
            query,
            run,
            read: VecDeque::new(),
            behind: true,
            _place: place,
        })
    }

    /// Waits for the next event. Cancel-safe: dropping the future loses no event.
    pub(crate) async fn next(&mut self) -> Done<News> {
        loop {
            if let Some(event) = self.read.pop_front() {
                self.last = event.seq;
                if self.is_selected(&event) {
                    return Ok(News::Event(event));
                }
                continue;
            }
            if self.behind {
                self.read_stored().await?;
                continue;
            }
            match self.live.recv().await {
                Ok(event) if event.seq <= self.last => {}
                Ok(event) => {
                    self.last = event.seq;
                    if self.is_selected(&event) {
                        return Ok(News::Event(event));
                    }
                }
                Err(RecvError::Lagged(_)) => {
                    self.behind = true;
                    let resync = ResyncEvent::new(self.last, Timestamp::now());
                    // A number and an instant can always be serialized.
                    return Ok(News::Resync(
                        serde_json::to_string(&resync).unwrap_or_default(),
                    ));
                }
                Err(RecvError::Closed) => return Ok(News::End),
            }
        }
    }

    async fn read_stored(&mut self) -> Done<()> {
        let page = runs::events_after(&self.server.app, self.run.as_ref(), self.last, PAGE);
        let page = page.await?;
        let events = page.events.into_iter();
        self.read = events.map(|event| Arc::new(event.into())).collect();
        if self.read.is_empty() {
            self.last = page.last;
        }
        self.behind = page.more;
        Ok(())
    }

    fn is_selected(&self, event: &FeedEvent) -> bool {
        let is = |wanted: &Option<String>, given: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == given)
        };
        is(&self.query.run, &event.run) && is(&self.query.skill, &event.skill)
    }
}

/// The whole id of the run that a client asks for. It stays the same while the client listens, also for `last`.
async fn find_run(server: &Arc<Server>, given: Option<String>) -> Done<Option<RunId>> {
    let Some(given) = given else {
        return Ok(None);
    };
    let found = server.block(move |server| runs::find_id(&server.app, &given));
    found.await.map(Some)
}
