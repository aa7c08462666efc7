//! What every request can reach.

use std::net::SocketAddr;
use std::sync::Arc;

use deft_service::audit::AuditLog;
use deft_service::tokens::TokenBook;
use deft_service::{App, Workspace};
use deft_wire::{Done, Failure};
use tokio_util::sync::CancellationToken;

use crate::feed::Hub;
use crate::hosts::AllowedHosts;
use crate::rate::RateLimit;
use crate::replies::Replies;

/// The address of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// The server and the daemon it lives in.
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    pub(crate) workspace: Workspace,
    pub(crate) tokens: TokenBook,
    pub(crate) hosts: AllowedHosts,
    pub(crate) rate: RateLimit,
    pub(crate) replies: Replies,
    pub(crate) hub: Hub,
    pub(crate) audit: AuditLog,
    /// Told when the daemon stops.
    pub(crate) stop: CancellationToken,
}

impl Server {
    /// Does something that blocks, on a thread that may be blocked.
    pub(crate) async fn block<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Done<T> + Send + 'static,
    ) -> Done<T> {
        let server = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || work(&server)).await;
        done.unwrap_or_else(|problem| {
            Err(Failure::internal(
                "engine",
                format!("the request failed: {problem}"),
            ))
        })
    }
}
