//! The WebSocket at `/` and `/ws` (S3.29): sends events and accepts answers to approvals.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, State};
use axum::http::{Response, Uri};
use axum::response::IntoResponse;
use deft_service::approvals;
use deft_wire::api::{SocketReply, SocketRequest};
use deft_wire::approval::{ApprovalAnswer, ApprovalView};
use deft_wire::model::{clip, visible};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};
use futures_util::{FutureExt, SinkExt};
use serde::Serialize;

use super::liveness::{Liveness, LivenessCheck};
use super::sse::read_query;
use super::subscription::{News, Subscription};
use crate::access::{self, Caller};
use crate::audit_trail::Sender;
use crate::context::{Peer, Server};
use crate::rate::RequestKind;
use crate::request_id::RequestId;
use crate::{reply, revocation};

/// Maximum size of a client's message, in bytes.
const MAX_MESSAGE: usize = 64 * 1024;

/// Timeout for sending a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of messages sent with one write.
const MAX_MESSAGES_PER_WRITE: usize = 64;

/// Maximum number of characters of an id in the audit log.
const MAX_ID_LEN: usize = 64;

/// The words for the audit log of a message that is no answer.
const UNREADABLE: &str = "unreadable message on the WebSocket";

/// Timeout for the closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Upgrades a request to a WebSocket.
pub(crate) async fn upgrade(
    State(server): State<Arc<Server>>,
    Extension(id): Extension<RequestId>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    uri: Uri,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response<Body> {
    let opened = open(&server, &uri, upgrade).await;
    let (upgrade, subscription) = match opened {
        Ok(opened) => opened,
        Err(failure) => return reply::problem(&failure, &id),
    };
    let client = Client {
        server,
        caller,
        subscription,
        id,
        peer,
    };
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .on_upgrade(move |socket| client.serve(socket))
        .into_response()
}

async fn open(
    server: &Arc<Server>,
    uri: &Uri,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Done<(WebSocketUpgrade, Subscription)> {
    let upgrade = upgrade.map_err(|_| {
        let failure = Failure::input("no_such_page", "this address is a WebSocket");
        failure.hint("connect with a WebSocket client; `/api/v1/events` has the same events")
    })?;
    let query = read_query(uri)?;
    let subscription = Subscription::open(Arc::clone(server), query).await?;
    Ok((upgrade, subscription))
}

/// An answer to a question, as a client sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Confirmation {
    id: String,
    answer: ApprovalAnswer,
    always: bool,
}

impl Confirmation {
    fn parse(text: &str) -> Done<Self> {
        let request = serde_json::from_str(text).map_err(|problem| {
            let message = format!("invalid message: {problem}");
            let shape = "send `{\"type\": \"confirm\", \"id\": \"…\", \"answer\": \"yes\"}`";
            Failure::input("invalid_input", message).hint(shape)
        })?;
        let SocketRequest::Confirm { id, answer, always } = request;
        Ok(Self { id, answer, always })
    }

    /// The words for the audit log. A client may send any text as an id, so a long one is cut.
    fn audit_text(&self, question: &str) -> String {
        let question = visible(&clip(question, MAX_ID_LEN));
        let always = if self.always { " always" } else { "" };
        let answer = self.answer.word();
        format!("confirm {question} {answer}{always} on the WebSocket")
    }
}

/// A connected client.
struct Client {
    server: Arc<Server>,
    caller: Caller,
    subscription: Subscription,
    id: RequestId,
    peer: Peer,
}

/// Signals that the connection ends.
struct SocketEnd;

/// What a connection does next.
enum NextStep {
    /// A message arrived, or the client disconnected.
    Received(Option<Result<Message, axum::Error>>),
    /// It is time to check whether the client is still there.
    Liveness(LivenessCheck),
    /// An event is ready.
    News(Done<News>),
}

impl Client {
    async fn serve(mut self, mut socket: WebSocket) {
        let stop = self.server.stop.clone();
        let mut revoked = Box::pin(revocation::wait_until_revoked(
            Arc::clone(&self.server),
            self.caller.clone(),
        ));
        let mut liveness = Liveness::default();
        loop {
            let next = tokio::select! {
                biased;
                () = &mut revoked => break,
                () = stop.cancelled() => break,
                message = socket.recv() => NextStep::Received(message),
                check = liveness.next() => NextStep::Liveness(check),
                news = self.subscription.next() => NextStep::News(news),
            };
            let done = match next {
                NextStep::Received(Some(Ok(message))) => {
                    liveness.record_message();
                    self.handle_message(&mut socket, message).await
                }
                NextStep::Received(Some(Err(_)) | None) => Err(SocketEnd),
                NextStep::Liveness(LivenessCheck::Ping) => {
                    send(&mut socket, Message::Ping(axum::body::Bytes::new())).await
                }
                NextStep::Liveness(LivenessCheck::Vanished) => break,
                // A client that reads slowly must not keep its feed after its token was revoked.
                NextStep::News(news) => tokio::select! {
                    biased;
                    () = &mut revoked => break,
                    done = self.send_news(&mut socket, news) => done,
                },
            };
            if done.is_err() {
                break;
            }
        }
        // A disconnected client needs no close message.
        drop(tokio::time::timeout(CLOSE_TIMEOUT, socket.send(Message::Close(None))).await);
    }

    /// Handles a message from the client.
    async fn handle_message(
        &self,
        socket: &mut WebSocket,
        message: Message,
    ) -> Result<(), SocketEnd> {
        let text = match message {
            Message::Text(text) => text,
            // The library answers pings.
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => {
                // Reading again makes the library send its close message.
                drop(tokio::time::timeout(CLOSE_TIMEOUT, socket.recv()).await);
                return Err(SocketEnd);
            }
            Message::Binary(_) => {
                let failure = Failure::input("invalid_input", "messages must be JSON text");
                return self.say(socket, &self.refusal(&failure)).await;
            }
        };
        let allowed =
            self.server
                .rate
                .check(&self.caller.name, RequestKind::Change, Instant::now());
        if let Err(failure) = allowed {
            return self.say(socket, &self.refusal(&failure)).await;
        }
        let reply = match self.answer(text.as_str()).await {
            Ok(approval) => SocketReply::Confirmed {
                approval: Box::new(approval),
            },
            Err(failure) => self.refusal(&failure),
        };
        self.say(socket, &reply).await
    }

    fn refusal(&self, failure: &Failure) -> SocketReply {
        SocketReply::Error {
            problem: failure.problem(Some(&self.id.0)),
        }
    }

    /// Answers a question, and adds a line to the audit log.
    async fn answer(&self, text: &str) -> Done<ApprovalView> {
        let confirmation = match Confirmation::parse(text) {
            Ok(confirmation) => confirmation,
            Err(failure) => {
                self.note(UNREADABLE, failure.status().number());
                return Err(failure);
            }
        };
        let answered = self.confirm(confirmation.clone()).await;
        // The client may have given the id of the run, or the beginning of an id.
        let (question, status) = match &answered {
            Ok(approval) => (approval.id.as_str(), 200),
            Err(failure) => (confirmation.id.as_str(), failure.status().number()),
        };
        self.note(&confirmation.audit_text(question), status);
        answered
    }

    async fn confirm(&self, confirmation: Confirmation) -> Done<ApprovalView> {
        self.caller.check(Scope::Run)?;
        if !self.server.tokens.is_valid(&self.caller.token) {
            return Err(access::unauthorized_failure("the token was revoked"));
        }
        let Confirmation { id, answer, always } = confirmation;
        let by = self.caller.record_name();
        let answered = self
            .server
            .block(move |server| approvals::answer(&server.app, &id, answer, always, &by));
        answered.await
    }

    /// Adds a line to the audit log.
    fn note(&self, what: &str, status: u16) {
        let sender = Sender {
            who: self.caller.name.clone(),
            from: self.peer.0.to_string(),
            request_id: self.id.0.clone(),
        };
        let audit = &self.server.audit;
        if (400..500).contains(&status) {
            audit.note_refused(&sender, what, status);
        } else {
            audit.note(&sender, what, status);
        }
    }

    /// Sends an event, together with further events that are ready, in one write.
    async fn send_news(
        &mut self,
        socket: &mut WebSocket,
        news: Done<News>,
    ) -> Result<(), SocketEnd> {
        in_time(socket.feed(message(news)?)).await?;
        for _ in 1..MAX_MESSAGES_PER_WRITE {
            let Some(news) = self.subscription.next().now_or_never() else {
                break;
            };
            in_time(socket.feed(message(news)?)).await?;
        }
        in_time(socket.flush()).await
    }

    async fn say(&self, socket: &mut WebSocket, reply: &impl Serialize) -> Result<(), SocketEnd> {
        let text = serde_json::to_string(reply).map_err(|_| SocketEnd)?;
        send(socket, Message::Text(text.into())).await
    }
}

/// Converts an event to a message.
fn message(news: Done<News>) -> Result<Message, SocketEnd> {
    let text = match news {
        Ok(News::Event(event)) => event.text.clone(),
        Ok(News::Resync(text)) => text.into(),
        Ok(News::End) => return Err(SocketEnd),
        Err(failure) => {
            tracing::warn!("a feed ended: {}", failure.message);
            return Err(SocketEnd);
        }
    };
    Ok(Message::Text(text))
}

/// Sends one message.
async fn send(socket: &mut WebSocket, message: Message) -> Result<(), SocketEnd> {
    in_time(socket.send(message)).await
}

/// Waits for a send to complete; fails if the client does not accept it in time.
async fn in_time(sending: impl Future<Output = Result<(), axum::Error>>) -> Result<(), SocketEnd> {
    let sent = tokio::time::timeout(SEND_TIMEOUT, sending).await;
    match sent {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(SocketEnd),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_logged_with_its_question() {
        let words = |text: &str| {
            let confirmation = Confirmation::parse(text).unwrap();
            confirmation.audit_text(&confirmation.id)
        };
        assert_eq!(
            words(r#"{"type": "confirm", "id": "apr_1", "answer": "skip"}"#),
            "confirm apr_1 skip on the WebSocket"
        );
        assert_eq!(
            words(r#"{"type": "confirm", "id": "a\u202eb", "answer": "yes", "always": true}"#),
            "confirm a\\u{202e}b yes always on the WebSocket"
        );
        let long = "x".repeat(1000);
        assert_eq!(
            words(&format!(
                r#"{{"type": "confirm", "id": "{long}", "answer": "no"}}"#
            )),
            format!("confirm {}… no on the WebSocket", &long[..64])
        );
    }
}
