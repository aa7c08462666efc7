//! Passes the messages of a line to the client whose request the line serves.
//!
//! A line serves one request at a time, so every message on it belongs to that request.

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

/// The maximum number of cancelled requests whose progress messages are dropped.
const MAX_STALE: usize = 16;

/// The receiver of messages of one line.
pub(super) struct ClientChannel {
    owner: Mutex<Option<mpsc::Sender<RelayMessage>>>,
    /// Number of questions that the client has not answered yet.
    open: AtomicUsize,
    /// Progress tokens of cancelled requests.
    stale: Mutex<Vec<ProgressToken>>,
    redaction: Arc<ArcSwap<Redaction>>,
}

impl ClientChannel {
    pub(super) fn new(redaction: Arc<ArcSwap<Redaction>>) -> Arc<Self> {
        Arc::new(Self {
            owner: Mutex::default(),
            open: AtomicUsize::new(0),
            stale: Mutex::default(),
            redaction,
        })
    }

    /// Sends messages to `owner` until the claim is dropped.
    pub(super) fn claim(self: &Arc<Self>, owner: mpsc::Sender<RelayMessage>) -> Claim {
        *self.owner.lock() = Some(owner.clone());
        Claim {
            channel: self.clone(),
            owner,
        }
    }

    /// Whether the server waits for an answer of the client.
    pub(super) fn is_asking(&self) -> bool {
        self.open.load(Ordering::SeqCst) > 0
    }

    /// Marks a request as cancelled: further progress messages for it are dropped.
    pub(super) fn give_up(&self, token: ProgressToken) {
        let mut stale = self.stale.lock();
        if stale.len() >= MAX_STALE {
            stale.remove(0);
        }
        stale.push(token);
    }

    /// Passes a notification on, in the server's order.
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
                self.redact_message(it.params.clone())
                    .map(RelayMessage::Progress)
            }
            ServerNotification::LoggingMessageNotification(it) => self
                .redact_message(it.params.clone())
                .map(RelayMessage::Log),
            _ => return,
        };
        if let (Some(owner), Some(message)) = (&*self.owner.lock(), message) {
            // A slow client loses messages; the server is not blocked.
            drop(owner.try_send(message));
        }
    }

    /// Passes a request of the server to the client and returns its answer.
    pub(super) async fn ask(&self, request: ServerRequest) -> Result<ClientResult, ErrorData> {
        let gone = || ErrorData::internal_error("there is no client to ask", None);
        let owner = self.owner.lock().clone().ok_or_else(gone)?;
        let (reply, answer) = oneshot::channel();
        let _open = OpenQuestion::new(&self.open);
        let request = self.redact_message(request).ok_or_else(gone)?;
        let sent = owner.send(RelayMessage::Request(request, reply)).await;
        sent.map_err(|_| gone())?;
        drop(owner);
        answer.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Removes secrets from a message.
    fn redact_message<T: Serialize + DeserializeOwned>(&self, message: T) -> Option<T> {
        redact(message, &self.redaction.load())
    }
}

/// Removes secrets from a message; `None` if a secret occurs where the protocol requires a fixed word.
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

/// The exclusive right to receive the messages of a line.
pub(super) struct Claim {
    channel: Arc<ClientChannel>,
    owner: mpsc::Sender<RelayMessage>,
}

impl Drop for Claim {
    fn drop(&mut self) {
        // The next request may have claimed the line already.
        let mut owner = self.channel.owner.lock();
        if owner
            .as_ref()
            .is_some_and(|owner| owner.same_channel(&self.owner))
        {
            *owner = None;
        }
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

#[cfg(test)]
mod tests {
    use rmcp::model::PingRequest;

    use super::*;

    #[tokio::test]
    async fn an_old_claim_does_not_end_the_next_one() {
        let channel = ClientChannel::new(Arc::default());
        let ping = || channel.ask(ServerRequest::PingRequest(PingRequest::default()));
        let (owner, _messages) = mpsc::channel(1);
        let first = channel.claim(owner);
        let (owner, mut messages) = mpsc::channel(1);
        let second = channel.claim(owner);
        drop(first);
        let answering = async {
            let Some(RelayMessage::Request(_, reply)) = messages.recv().await else {
                panic!("the client is not asked");
            };
            reply.send(Ok(ClientResult::empty(()))).unwrap();
        };
        let (answer, ()) = tokio::join!(ping(), answering);
        answer.unwrap();
        drop(second);
        ping().await.unwrap_err();
    }
}
