//! What every request can reach.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deft_service::audit::AuditLog;
use deft_service::hooks::HookBook;
use deft_service::runs::Runner;
use deft_service::telemetry::Metrics;
use deft_service::tokens::TokenBook;
use deft_service::{App, Workspace};
use deft_wire::{Done, Failure};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::deliveries::Deliveries;
use crate::hosts::AllowedHosts;
use crate::hub::Hub;
use crate::mcp::McpService;
use crate::pages::PageCache;
use crate::rate::RateLimit;
use crate::replies::Replies;

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// What the configuration allows clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest that a client may take to send the head or the body of a request.
    pub(crate) request_timeout: Duration,
    /// The most connections at once.
    pub(crate) connections: usize,
}

/// The server and the daemon it lives in.
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    pub(crate) workspace: Workspace,
    pub(crate) runner: Runner,
    pub(crate) tokens: TokenBook,
    pub(crate) hosts: AllowedHosts,
    pub(crate) rate: RateLimit,
    pub(crate) replies: Arc<Replies>,
    pub(crate) pages: PageCache,
    pub(crate) hub: Hub,
    pub(crate) audit: Arc<AuditLog>,
    pub(crate) limits: Limits,
    pub(crate) hooks: HookBook,
    /// Places for deliveries that are being received.
    pub(crate) deliveries: Arc<Deliveries>,
    /// Places for deliveries that block a thread, apart from those of requests: a slow keyring delays deliveries only.
    pub(crate) delivery_threads: Semaphore,
    /// Places for requests that block a thread.
    pub(crate) threads: Semaphore,
    /// Places for clients of the feed.
    pub(crate) feeds: Arc<Semaphore>,
    /// The service behind `/mcp`, once a client has asked for it.
    pub(crate) mcp: OnceLock<McpService>,
    /// The figures of the daemon.
    pub(crate) metrics: Arc<Metrics>,
    /// Whether `/metrics` needs no token.
    pub(crate) has_open_metrics: bool,
    /// Told when the daemon stops.
    pub(crate) stop: CancellationToken,
    /// Told when no run is under way any more.
    pub(crate) drained: CancellationToken,
}

/// The most requests that block a thread at once.
pub(crate) const THREADS: usize = 32;

/// The most deliveries that block a thread at once.
pub(crate) const DELIVERY_THREADS: usize = 8;

/// The most clients of the feed at once.
pub(crate) const FEEDS: usize = 2_000;

impl Server {
    /// Does something that blocks, on a thread that may be blocked.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Done<T> + Send + 'static,
    ) -> Done<T> {
        self.block_within(&self.threads, work).await
    }

    /// Takes a delivery on a thread that may be blocked.
    pub(crate) async fn block_delivery<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Done<T> + Send + 'static,
    ) -> Done<T> {
        self.block_within(&self.delivery_threads, work).await
    }

    async fn block_within<T: Send + 'static>(
        self: &Arc<Self>,
        places: &Semaphore,
        work: impl FnOnce(&Self) -> Done<T> + Send + 'static,
    ) -> Done<T> {
        // The semaphores are never closed.
        let place = places.acquire().await;
        let server = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&server)).await;
        drop(place);
        done.unwrap_or_else(|problem| {
            Err(Failure::internal(
                "engine",
                format!("the request failed: {problem}"),
            ))
        })
    }
}
