//! A request that is under way, seen from the side of the client.

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

/// What a server sends before it answers.
#[derive(Debug)]
pub enum RelayMessage {
    /// It wants something of the client; without an answer it is told that there is none.
    Request(
        ServerRequest,
        oneshot::Sender<Result<ClientResult, ErrorData>>,
    ),
    /// How far it is. The token is the server's, not the client's.
    Progress(ProgressNotificationParam),
    /// A line for a log.
    Log(LoggingMessageNotificationParam),
}

/// What comes next of a request.
#[derive(Debug)]
pub enum RelayEvent {
    /// A message in the middle.
    Message(Box<RelayMessage>),
    /// The end.
    Ended(Box<Result<ServerResult, RelayError>>),
}

/// A request that is under way. Dropping it cancels the request at the server.
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

    /// Waits for the next message or the end, which comes after all messages.
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
