//! Resources whose changes clients of deft want to hear of. The server is asked once for each.

#![expect(
    deprecated,
    reason = "servers of older revisions are asked in their way"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    ClientRequest, SubscribeRequest, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequest, UnsubscribeRequestParams,
};
use rmcp::service::{PeerRequestOptions, ServiceError, Subscription};

use super::link::Link;
use super::{Server, fault};
use crate::catalog::Era;
use crate::relay::RelayError;

/// The resources of one server that clients follow.
#[derive(Default)]
pub(super) struct Subscriptions {
    followed: tokio::sync::Mutex<BTreeMap<String, FollowedResource>>,
}

/// One resource.
struct FollowedResource {
    clients: usize,
    /// Keeps a subscription of the modern era alive. The guard reads its messages off the wire.
    subscription: Option<Subscription>,
}

impl Server {
    /// Follows a resource for one more client.
    pub(crate) async fn subscribe(self: &Arc<Self>, uri: &str) -> Result<(), RelayError> {
        let link = self.ensure().await?;
        let mut followed = self.subscriptions.followed.lock().await;
        if let Some(known) = followed.get_mut(uri) {
            known.clients += 1;
            return Ok(());
        }
        let era = *self.era.lock();
        let subscription = follow(&link, uri, era).await.map_err(|error| {
            let refusal = if let ServiceError::McpError(data) = error {
                RelayError::Protocol(data)
            } else {
                fault::malformed(&self.name, &error.to_string()).into()
            };
            self.hide_secrets(refusal)
        })?;
        let known = FollowedResource {
            clients: 1,
            subscription,
        };
        followed.insert(uri.to_owned(), known);
        Ok(())
    }

    /// Follows a resource for one client less.
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
            // A server that does not know the resource any more need not be told.
            tokio::spawn(async move { send(&link, request).await.ok() });
        }
    }

    /// Follows everything again on a new connection.
    pub(super) async fn subscribe_again(&self, link: &Link, era: Era) {
        let mut followed = self.subscriptions.followed.lock().await;
        for (uri, known) in followed.iter_mut() {
            match follow(link, uri, Some(era)).await {
                Ok(subscription) => known.subscription = subscription,
                Err(problem) => {
                    let problem = self.redaction.load().owned(problem.to_string());
                    tracing::warn!(server = self.name, uri, problem, "no longer followed");
                }
            }
        }
    }
}

async fn follow(
    link: &Link,
    uri: &str,
    era: Option<Era>,
) -> Result<Option<Subscription>, ServiceError> {
    match era {
        Some(Era::Modern) => {
            let mut filter = SubscriptionFilter::default();
            filter.resource_subscriptions = Some(vec![uri.to_owned()]);
            link.peer.listen(filter).await.map(Some)
        }
        Some(Era::Legacy) | None => {
            let params = SubscribeRequestParams::new(uri);
            let request = ClientRequest::SubscribeRequest(SubscribeRequest::new(params));
            send(link, request).await?;
            Ok(None)
        }
    }
}

async fn send(link: &Link, request: ClientRequest) -> Result<(), ServiceError> {
    let options = PeerRequestOptions::no_options();
    let handle = link.peer.send_request_with_option(request, options).await?;
    handle.await_response().await.map(drop)
}
