//! A transport wrapper that protects deft from faulty servers.
//!
//! It drops notifications that no call waits for and passes those of a line for clients to its desk;
//! declines requests of the server itself, so that the protocol library neither logs nor queues them;
//! answers a probe that the server ignores or does not understand; and marks requests as sent.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ClientResult, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerNotification, ServerRequest, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::desk::ClientChannel;
use super::traffic::{Excess, Traffic};
use super::watch::{SentFlag, Watch};
use crate::relay::News;

/// How long a server may leave `server/discover` unanswered before it is treated as one that only knows
/// `initialize`. The library would wait ten seconds.
const PROBE: Duration = Duration::from_secs(5);
/// The number of consecutive unsolicited messages, with no answer among them, that counts as a flood.
const FLOOD: usize = 200_000;

/// The guarded transport.
pub(super) struct Guard<T> {
    inner: T,
    server: String,
    watch: Arc<Watch>,
    /// Whether to time out the probe: not for a server that is known to be of the modern era, and only
    /// slow.
    probing: bool,
    /// The unanswered probe and its deadline.
    probe: Option<(RequestId, Instant)>,
    /// A probe that was answered on the server's behalf; the server's own answer is dropped.
    answered_probe: Option<RequestId>,
    noise: usize,
    traffic: Traffic,
    /// Number of answers that the server has not read.
    unread: Arc<AtomicUsize>,
    /// Receives messages that belong to the request of a client.
    desk: Option<Arc<ClientChannel>>,
}

impl<T: Transport<RoleClient> + Sync> Guard<T> {
    pub(super) fn new(inner: T, server: &str, watch: Arc<Watch>, probing: bool) -> Self {
        Self {
            inner,
            server: server.to_owned(),
            watch,
            probing,
            probe: None,
            answered_probe: None,
            noise: 0,
            traffic: Traffic::default(),
            unread: Arc::default(),
            desk: None,
        }
    }

    /// Sets the desk of a line that serves clients.
    pub(super) fn with_desk(self, desk: Option<Arc<ClientChannel>>) -> Self {
        Self { desk, ..self }
    }

    /// Returns the message if it is to be passed on; `None` if it was handled or dropped.
    fn filter_message(
        &mut self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        match &message {
            JsonRpcMessage::Notification(notification) => {
                self.noise += 1;
                self.traffic.notification();
                self.note(&notification.notification).then_some(message)
            }
            JsonRpcMessage::Request(request) => {
                self.noise += 1;
                let is_ping = matches!(request.request, ServerRequest::PingRequest(_));
                let is_for_client = matches!(
                    request.request,
                    ServerRequest::ElicitRequest(_)
                        | ServerRequest::CreateMessageRequest(_)
                        | ServerRequest::ListRootsRequest(_)
                );
                if self.desk.is_some() && is_for_client && self.traffic.request(0) {
                    return Some(message);
                }
                self.decline(request.id.clone(), is_ping);
                None
            }
            JsonRpcMessage::Response(response) => {
                self.noise = 0;
                let id = response.id.clone();
                // Some servers answer `{}` to unknown requests.
                let knows = matches!(response.result, ServerResult::DiscoverResult(_));
                if self.is_probe(&id) && !knows {
                    self.probe = None;
                    return Some(self.answer_probe(id));
                }
                self.without_late_answer(&id, message)
            }
            JsonRpcMessage::Error(error) => {
                self.noise = 0;
                match error.id.clone() {
                    Some(id) => self.without_late_answer(&id, message),
                    None => Some(message),
                }
            }
        }
    }

    /// Handles a notification; returns whether the protocol library needs it too.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of messages and may add more"
    )]
    fn note(&self, notification: &ServerNotification) -> bool {
        match notification {
            ServerNotification::ToolListChangedNotification(_) => self.watch.relist.notify_one(),
            ServerNotification::PromptListChangedNotification(_) => {
                self.watch.news.add(News::Prompts);
            }
            ServerNotification::ResourceListChangedNotification(_) => {
                self.watch.news.add(News::Resources);
                self.watch.resources_changed();
            }
            ServerNotification::ResourceUpdatedNotification(it) => {
                self.watch.news.add(News::Updated(it.params.uri.clone()));
            }
            ServerNotification::CancelledNotification(_)
            | ServerNotification::SubscriptionsAcknowledgedNotification(_) => return true,
            other => {
                if let Some(desk) = &self.desk {
                    desk.notify(other);
                }
            }
        }
        false
    }

    /// Declines a request of the server, and answers a ping. No model and no person is behind the
    /// router, so nothing else can be answered.
    fn decline(&mut self, id: RequestId, is_ping: bool) {
        if !self.traffic.request(self.unread.load(Ordering::Relaxed)) {
            return;
        }
        let answer = if is_ping {
            JsonRpcMessage::response(ClientResult::empty(()), id)
        } else {
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "not supported", None);
            JsonRpcMessage::error(error, Some(id))
        };
        let (sending, unread) = (self.inner.send(answer), self.unread.clone());
        unread.fetch_add(1, Ordering::Relaxed);
        // Not awaited here: a server that does not read must not keep deft from reading.
        tokio::spawn(async move {
            // A closed connection needs no answer.
            drop(sending.await);
            unread.fetch_sub(1, Ordering::Relaxed);
        });
    }

    fn report(&self, excess: Option<Excess>) {
        if let Some(excess) = excess {
            tracing::warn!(
                server = self.server,
                requests = excess.requests,
                unanswered = excess.unanswered,
                notifications = excess.notifications,
                "the server sends too many unsolicited messages; the excess is dropped"
            );
        }
    }

    fn without_late_answer(
        &mut self,
        id: &RequestId,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        if self.is_probe(id) {
            self.probe = None;
        }
        (self.answered_probe.as_ref() != Some(id)).then_some(message)
    }

    fn is_probe(&self, id: &RequestId) -> bool {
        self.probe.as_ref().is_some_and(|(probe, _)| probe == id)
    }

    /// Answers the probe as a server that follows the protocol would.
    fn answer_probe(&mut self, id: RequestId) -> RxJsonRpcMessage<RoleClient> {
        self.answered_probe = Some(id.clone());
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer", None);
        JsonRpcMessage::error(error, Some(id))
    }
}

impl<T: Transport<RoleClient> + Sync> Transport<RoleClient> for Guard<T> {
    type Error = T::Error;

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of messages and may add more"
    )]
    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &item {
            JsonRpcMessage::Request(request) => match &request.request {
                ClientRequest::CallToolRequest(call) => {
                    if let Some(sent) = call.extensions.get::<SentFlag>() {
                        sent.set();
                    }
                }
                ClientRequest::DiscoverRequest(_) if self.probing => {
                    self.probe = Some((request.id.clone(), Instant::now() + PROBE));
                }
                _ => {}
            },
            JsonRpcMessage::Response(_)
            | JsonRpcMessage::Error(_)
            | JsonRpcMessage::Notification(_) => {}
        }
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let next = match self.probe.clone() {
                Some((id, until)) => tokio::select! {
                    biased;
                    message = self.inner.receive() => message,
                    () = tokio::time::sleep_until(until) => {
                        self.probe = None;
                        return Some(self.answer_probe(id));
                    }
                },
                None => self.inner.receive().await,
            };
            let Some(message) = next else {
                self.watch.lost.cancel();
                return None;
            };
            let excess = self.traffic.turn(Instant::now());
            self.report(excess);
            if let Some(message) = self.filter_message(message) {
                return Some(message);
            }
            if self.noise > FLOOD {
                self.watch.end("it sent a flood of unsolicited messages");
                self.watch.lost.cancel();
                return None;
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        let excess = self.traffic.finish();
        self.report(excess);
        self.watch.lost.cancel();
        self.inner.close().await
    }
}
