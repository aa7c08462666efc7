//! Where the messages of a line go that belong to a request of a client.
//!
//! A line serves one request at a time, so that whatever a server sends on it belongs to that request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use rmcp::ErrorData;
use rmcp::model::{ClientResult, ProgressToken, ServerNotification, ServerRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use crate::redact::Redaction;
use crate::relay::RelayMessage;

/// Progress of requests that were cancelled, as far back as it matters.
const MOST_STALE: usize = 16;

/// The receiver of messages of one line.
pub(super) struct Desk {
    owner: Mutex<Option<mpsc::Sender<RelayMessage>>>,
    /// Questions that the client has not answered.
    open: AtomicUsize,
    /// Tokens of requests that were given up.
    stale: Mutex<Vec<ProgressToken>>,
    redaction: Arc<ArcSwap<Redaction>>,
}

impl Desk {
    pub(super) fn new(redaction: Arc<ArcSwap<Redaction>>) -> Arc<Self> {
        Arc::new(Self {
            owner: Mutex::default(),
            open: AtomicUsize::new(0),
            stale: Mutex::default(),
            redaction,
        })
    }

    /// Messages go to this request until the claim is dropped.
    pub(super) fn claim(self: &Arc<Self>, owner: mpsc::Sender<RelayMessage>) -> Claim {
        *self.owner.lock() = Some(owner);
        Claim(self.clone())
    }

    /// Whether the server waits for the client.
    pub(super) fn is_asking(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    /// Forgets a request: what still comes for it is dropped.
    pub(super) fn give_up(&self, token: ProgressToken) {
        let mut stale = self.stale.lock();
        if stale.len() >= MOST_STALE {
            stale.remove(0);
        }
        stale.push(token);
    }

    /// Hands a notification on, in the order in which the server sent it.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of messages and may add more"
    )]
    pub(super) fn notify(&self, notification: &ServerNotification) {
        let message = match notification {
            ServerNotification::ProgressNotification(it) => {
                if self.stale.lock().contains(&it.params.progress_token) {
                    return;
                }
                self.redacted(it.params.clone()).map(RelayMessage::Progress)
            }
            ServerNotification::LoggingMessageNotification(it) => {
                self.redacted(it.params.clone()).map(RelayMessage::Log)
            }
            _ => return,
        };
        if let (Some(owner), Some(message)) = (&*self.owner.lock(), message) {
            // A client that does not keep up loses messages; the server is not held up.
            drop(owner.try_send(message));
        }
    }

    /// Asks the client behind the request.
    pub(super) async fn ask(&self, request: ServerRequest) -> Result<ClientResult, ErrorData> {
        let gone = || ErrorData::internal_error("there is no client to ask", None);
        let owner = self.owner.lock().clone().ok_or_else(gone)?;
        let (reply, answer) = oneshot::channel();
        let _open = OpenQuestion::new(&self.open);
        let request = self.redacted(request).ok_or_else(gone)?;
        let sent = owner.send(RelayMessage::Request(request, reply)).await;
        sent.map_err(|_| gone())?;
        drop(owner);
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// The same without any secret.
    fn redacted<T: Serialize + DeserializeOwned>(&self, message: T) -> Option<T> {
        redact(message, &self.redaction.load())
    }
}

/// A message without any secret; none if a secret stands where a word of the protocol belongs.
pub(super) fn redact<T: Serialize + DeserializeOwned>(
    message: T,
    redaction: &Redaction,
) -> Option<T> {
    if redaction.is_empty() {
        return Some(message);
    }
    let value = serde_json::to_value(message).ok()?;
    serde_json::from_value(redaction.value(value)).ok()
}

/// The right to the messages of a line.
pub(super) struct Claim(Arc<Desk>);

impl Drop for Claim {
    fn drop(&mut self) {
        *self.0.owner.lock() = None;
    }
}

/// Counts a question while it is open.
struct OpenQuestion<'a>(&'a AtomicUsize);

impl<'a> OpenQuestion<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
