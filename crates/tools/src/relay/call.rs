//! A relayed request in flight, from the client's side.

#![expect(
    deprecated,
    reason = "logging is part of every revision that is served"
)]

use rmcp::ErrorData;
use rmcp::model::{ClientResult, LoggingMessageNotificationParam, ProgressNotificationParam};
use rmcp::model::{ServerRequest, ServerResult};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::DropGuard;

use super::RelayError;

/// A message that a server sends before its answer.
#[derive(Debug)]
pub enum RelayMessage {
    /// A request to the client. Dropping the sender tells the server that no client answers.
    Request(
        ServerRequest,
        oneshot::Sender<Result<ClientResult, ErrorData>>,
    ),
    /// Progress of the request. The token is the server's, not the client's.
    Progress(ProgressNotificationParam),
    /// A log message.
    Log(LoggingMessageNotificationParam),
}

/// The next event of a relayed request.
#[derive(Debug)]
pub enum RelayEvent {
    /// A message before the answer.
    Message(Box<RelayMessage>),
    /// The final result.
    Ended(Box<Result<ServerResult, RelayError>>),
}

/// A relayed request in flight. Dropping it cancels the request at the server.
#[derive(Debug)]
pub struct RelayCall {
    messages: mpsc::Receiver<RelayMessage>,
    done: oneshot::Receiver<Result<ServerResult, RelayError>>,
    gone: RelayError,
    _cancel: DropGuard,
}

impl RelayCall {
    pub(crate) fn new(
        messages: mpsc::Receiver<RelayMessage>,
        done: oneshot::Receiver<Result<ServerResult, RelayError>>,
        gone: RelayError,
        cancel: DropGuard,
    ) -> Self {
        Self {
            messages,
            done,
            gone,
            _cancel: cancel,
        }
    }

    /// Waits for the next message or the result; the result comes after all messages.
    pub async fn next(&mut self) -> RelayEvent {
        let done = tokio::select! {
            biased;
            Some(message) = self.messages.recv() => return RelayEvent::Message(Box::new(message)),
            done = &mut self.done => done,
        };
        // The end may overtake what was sent just before it.
        RelayEvent::Ended(Box::new(done.unwrap_or_else(|_| Err(self.gone.clone()))))
    }
}
