//! Subscriptions of clients of deft to changes of resources. The server gets one subscription per
//! resource.

#![expect(
    deprecated,
    reason = "servers of older revisions are asked in their way"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientRequest, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequest, UnsubscribeRequestParams,
};
use rmcp::service::{PeerRequestOptions, ServiceError, Subscription};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::link::Link;
use super::{Server, fault};
use crate::breaker::backoff;
use crate::catalog::Era;
use crate::relay::RelayError;

/// The timeout for subscribing to a resource.
const SUBSCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// A subscription that lasted this long was not rejected by the server.
const MIN_LIFETIME: Duration = Duration::from_mins(1);

/// The resources of one server that clients follow.
#[derive(Default)]
pub(super) struct Subscriptions {
    followed: tokio::sync::Mutex<BTreeMap<String, FollowedResource>>,
}

/// A resource that clients follow.
struct FollowedResource {
    clients: usize,
    /// The task that keeps a subscription of the modern era open; it ends on drop.
    keeper: JoinSet<()>,
}

impl Server {
    /// Subscribes one more client to a resource.
    pub(crate) async fn subscribe(self: &Arc<Self>, uri: &str) -> Result<(), RelayError> {
        let link = self.ensure().await?;
        let mut followed = self.subscriptions.followed.lock().await;
        if let Some(known) = followed.get_mut(uri) {
            known.clients += 1;
            return Ok(());
        }
        let era = *self.era.lock();
        let keeper = follow(&link, uri, era).await.map_err(|error| {
            let refusal = if let ServiceError::McpError(data) = error {
                RelayError::Protocol(data)
            } else {
                fault::malformed_failure(&self.name, &error.to_string()).into()
            };
            self.hide_secrets(refusal)
        })?;
        let known = FollowedResource { clients: 1, keeper };
        followed.insert(uri.to_owned(), known);
        Ok(())
    }

    /// Unsubscribes one client from a resource.
    pub(crate) async fn unsubscribe(self: &Arc<Self>, uri: &str) {
        let mut followed = self.subscriptions.followed.lock().await;
        let Some(known) = followed.get_mut(uri) else {
            return;
        };
        known.clients -= 1;
        if known.clients > 0 {
            return;
        }
        followed.remove(uri);
        drop(followed);
        let link = self.ready();
        if let (Some(link), Some(Era::Legacy)) = (link, *self.era.lock()) {
            let params = UnsubscribeRequestParams::new(uri);
            let request = ClientRequest::UnsubscribeRequest(UnsubscribeRequest::new(params));
            // A server that has forgotten the resource returns an error, which does not matter.
            tokio::spawn(async move { send(&link, request).await.ok() });
        }
    }

    /// Whether clients follow any resource.
    pub(super) async fn is_followed(&self) -> bool {
        !self.subscriptions.followed.lock().await.is_empty()
    }

    /// Restores all subscriptions on a new connection.
    pub(super) async fn subscribe_again(&self, link: &Arc<Link>, era: Era) {
        let mut followed = self.subscriptions.followed.lock().await;
        for (uri, known) in followed.iter_mut() {
            match follow(link, uri, Some(era)).await {
                Ok(keeper) => known.keeper = keeper,
                Err(problem) => {
                    let problem = self.redaction.load().redact_owned(problem.to_string());
                    tracing::warn!(server = self.name, uri, problem, "no longer followed");
                }
            }
        }
    }
}

async fn follow(
    link: &Arc<Link>,
    uri: &str,
    era: Option<Era>,
) -> Result<JoinSet<()>, ServiceError> {
    let mut keeper = JoinSet::new();
    match era {
        Some(Era::Modern) => {
            let subscription = listen(link, uri).await?;
            keeper.spawn(keep(subscription, link.clone(), uri.to_owned()));
        }
        Some(Era::Legacy) | None => {
            let params = SubscribeRequestParams::new(uri);
            let request = ClientRequest::SubscribeRequest(SubscribeRequest::new(params));
            in_time(send(link, request)).await?;
        }
    }
    Ok(keeper)
}

/// Keeps a subscription open, and renews it when the server ends it. The guard takes its messages from
/// the transport, so only its end arrives here.
async fn keep(mut subscription: Subscription, link: Arc<Link>, uri: String) {
    let mut ends = 0;
    loop {
        let begun = Instant::now();
        while let Ok(Some(_)) = subscription.next().await {}
        ends = if begun.elapsed() < MIN_LIFETIME {
            ends + 1
        } else {
            1
        };
        tokio::time::sleep(backoff(ends)).await;
        let Ok(again) = listen(&link, &uri).await else {
            return link.watch.stream_lost.notify_one();
        };
        subscription = again;
    }
}

async fn listen(link: &Link, uri: &str) -> Result<Subscription, ServiceError> {
    let mut filter = SubscriptionFilter::default();
    filter.resource_subscriptions = Some(vec![uri.to_owned()]);
    in_time(link.peer.listen(filter)).await
}

async fn send(link: &Link, request: ClientRequest) -> Result<(), ServiceError> {
    let options = PeerRequestOptions::no_options();
    let handle = link.peer.send_request_with_option(request, options).await?;
    handle.await_response().await.map(drop)
}

/// Limits the wait for an answer: other callers wait for the lock on the list of resources meanwhile.
async fn in_time<T>(
    answer: impl Future<Output = Result<T, ServiceError>>,
) -> Result<T, ServiceError> {
    let late = |_| {
        Err(ServiceError::Timeout {
            timeout: SUBSCRIBE_TIMEOUT,
        })
    };
    tokio::time::timeout(SUBSCRIBE_TIMEOUT, answer)
        .await
        .unwrap_or_else(late)
}
