//! State shared by all requests.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use deft_service::hooks::HookConfigs;
use deft_service::runs::Runner;
use deft_service::telemetry::Metrics;
use deft_service::tokens::TokenBook;
use deft_service::{App, Workspace};
use deft_wire::{Done, Failure};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::audit_trail::Audit;
use crate::blocking::block_with_permit;
use crate::deliveries::Deliveries;
use crate::hosts::AllowedHosts;
use crate::hub::Hub;
use crate::mcp::McpService;
use crate::pages::PageCache;
use crate::rate::RateLimit;
use crate::refusals::Refusals;
use crate::replies::Replies;

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Configured limits for clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Maximum time that a client may take to send the head or the body of a request.
    pub(crate) request_timeout: Duration,
    /// Maximum number of connections at once.
    pub(crate) connections: usize,
    /// Maximum number of clients of the feed at once.
    pub(crate) feeds: usize,
}

/// The server and the daemon that it runs in.
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
    pub(crate) audit: Audit,
    /// Limit on lines about refused requests in the log.
    pub(crate) refusals: Refusals,
    pub(crate) limits: Limits,
    pub(crate) hooks: HookConfigs,
    /// Permits for receiving deliveries of hooks.
    pub(crate) deliveries: Arc<Deliveries>,
    /// Places for deliveries that block a thread, apart from those of requests: a slow keyring delays deliveries only.
    pub(crate) delivery_threads: Arc<Semaphore>,
    /// Permits for requests that block a thread.
    pub(crate) threads: Arc<Semaphore>,
    /// Permits for clients of the feed.
    pub(crate) feeds: Arc<Semaphore>,
    /// The service behind `/mcp`, created on the first request.
    pub(crate) mcp: OnceLock<McpService>,
    /// Metrics of the daemon.
    pub(crate) metrics: Arc<Metrics>,
    /// Whether `/metrics` needs no token.
    pub(crate) has_open_metrics: bool,
    /// Cancelled when the daemon begins to stop.
    pub(crate) stop: CancellationToken,
    /// Cancelled when no run is in progress any more.
    pub(crate) drained: CancellationToken,
}

/// Maximum number of requests that block a thread at once.
pub(crate) const THREADS: usize = 32;

/// The most deliveries that block a thread at once.
pub(crate) const DELIVERY_THREADS: usize = 8;

/// Maximum number of feed clients at once.
const MAX_FEEDS: usize = 2_000;

impl Limits {
    /// Returns how many clients may follow the events. Those on a WebSocket are not counted as connections, and
    /// must leave enough of the files that the process may open.
    pub(crate) fn feeds(open_files: usize) -> usize {
        MAX_FEEDS.min(open_files / 4)
    }
}

impl Server {
    /// Runs blocking `work` on a thread where blocking is allowed, after waiting for a permit.
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
        permits: &Arc<Semaphore>,
        work: impl FnOnce(&Self) -> Done<T> + Send + 'static,
    ) -> Done<T> {
        let server = Arc::clone(self);
        let done = block_with_permit(permits, move || work(&server)).await;
        done.unwrap_or_else(|problem| {
            Err(Failure::internal(
                "engine",
                format!("the request failed: {problem}"),
            ))
        })
    }
}
