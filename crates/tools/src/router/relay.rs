//! Relays requests of clients to the servers behind deft.

use std::sync::Arc;

use deft_model::{Failure, FailureClass};
use rmcp::model::ClientRequest;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Router;
use crate::arguments::Preparation;
use crate::index::{Lookup, Target};
use crate::options::Reexport;
use crate::relay::{News, Offers, RelayCall, RelayError, RelayRequest};
use crate::server::Server;

/// The maximum number of queued messages from a server to its client.
const MAX_MESSAGES: usize = 1024;

impl Router {
    /// Whether any server is offered to clients.
    pub fn reexports(&self) -> bool {
        let settings = self.inner.settings.load();
        let mut servers = settings.servers.values();
        servers.any(|server| server.enabled && server.reexport != Reexport::Off)
    }

    /// Returns the offers of all re-exported servers, sorted by server name. Unreachable servers are
    /// left out.
    pub async fn offers(&self) -> Vec<Arc<Offers>> {
        let mut asked = JoinSet::new();
        for server in self.reexported_servers() {
            asked.spawn(async move { server.offers().await });
        }
        let offers = asked.join_all().await.into_iter().flatten();
        let mut offers: Vec<_> = offers.collect();
        offers.sort_by(|a, b| a.server.cmp(&b.server));
        offers
    }

    /// Subscribes to the changes that servers announce to clients.
    pub fn news(&self) -> broadcast::Receiver<News> {
        self.inner.news.subscribe()
    }

    /// Relays a request to a server. Must be called inside a runtime.
    pub fn relay(&self, mut request: RelayRequest) -> RelayCall {
        let cancel = CancellationToken::new();
        let (owner, messages) = mpsc::channel(MAX_MESSAGES);
        let (done, ended) = oneshot::channel();
        let gone = Failure::new(FailureClass::Cancelled, "deft is shutting down");
        let call = RelayCall::new(messages, ended, gone.into(), cancel.clone().drop_guard());
        let router = self.clone();
        tokio::spawn(async move {
            let checked = router.check(&mut request);
            let outcome = match checked {
                Ok(server) => Box::pin(server.relay(request, owner, cancel)).await,
                Err(error) => Err(error),
            };
            // A client that has disconnected needs no answer.
            drop(done.send(outcome));
        });
        call
    }

    /// Subscribes clients to changes of a resource.
    pub async fn subscribe(&self, server: &str, uri: &str) -> Result<(), RelayError> {
        let server = self.find_exported(server)?;
        Box::pin(server.subscribe(uri)).await
    }

    /// Cancels the subscription of one client.
    pub async fn unsubscribe(&self, server: &str, uri: &str) {
        if let Ok(server) = self.find_exported(server) {
            server.unsubscribe(uri).await;
        }
    }

    /// Returns the server for a request. The arguments of a tool call are checked as for any other
    /// call.
    fn check(&self, request: &mut RelayRequest) -> Result<Arc<Server>, RelayError> {
        let server = self.find_exported(&request.server)?;
        let ClientRequest::CallToolRequest(call) = &mut request.request else {
            return Ok(server);
        };
        let name = format!("{}.{}", request.server, call.params.name);
        let Lookup::One(entry) = self.inner.index.load().lookup(&name) else {
            return Err(crate::index::unknown_tool(&name, &[]).into());
        };
        if !matches!(&entry.target, Target::Server(other) if Arc::ptr_eq(other, &server)) {
            return Err(crate::index::unknown_tool(&name, &[]).into());
        }
        let given = call.params.arguments.take();
        let is_empty = given.is_none();
        let options = self.inner.settings.load();
        let preparation = Preparation {
            by_model: false,
            ..entry.preparation(&name, &options)
        };
        let (arguments, _) = preparation.prepare(given.unwrap_or_default())?;
        call.params.arguments = (!is_empty || !arguments.is_empty()).then_some(arguments);
        Ok(server)
    }

    fn reexported_servers(&self) -> Vec<Arc<Server>> {
        let servers = self.inner.servers.lock();
        let servers = servers.values().filter(|server| is_exported(server));
        servers.cloned().collect()
    }

    fn find_exported(&self, name: &str) -> Result<Arc<Server>, RelayError> {
        let servers = self.inner.servers.lock();
        let server = servers.get(name).filter(|server| is_exported(server));
        let server = server.ok_or_else(|| {
            let message = format!("the server `{name}` is not offered to clients");
            Failure::new(FailureClass::NotFound, message)
        })?;
        Ok(server.clone())
    }
}

fn is_exported(server: &Server) -> bool {
    server.options().enabled && server.options().reexport != Reexport::Off
}
