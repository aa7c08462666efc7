//! deft over HTTP: a listener inside the daemon, with a token, for programs on this machine. And deft over MCP: `mcp`.
//!
//! Every request goes through `guard.rs` (who asks, from where, how often). Not here: what a request does, which is
//! the part of `service`, and shapes, which are the part of `wire`.

mod access;
mod answer;
mod context;
mod dispatch;
mod feed;
mod guard;
mod health;
mod hosts;
mod hub;
mod listen;
pub mod mcp;
mod mount;
mod openapi;
#[cfg(test)]
mod openapi_tests;
mod rate;
mod replies;
mod reply;
mod request_id;
mod route;
mod router;
mod routes;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use deft_service::audit::AuditLog;
use deft_service::daemon::{Guest, Host};
use deft_service::tokens::TokenBook;
use deft_wire::Done;
use deft_wire::listener::ListenerState;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::context::{FEEDS, Server, THREADS};
use crate::hosts::AllowedHosts;
use crate::hub::Hub;
use crate::rate::RateLimit;
use crate::replies::Replies;

/// Starts to listen as the configuration says. A daemon works without it: what goes wrong is logged and reported.
pub fn start(host: Host) -> Guest {
    if !host.config.enabled {
        return Guest::default();
    }
    match begin(host) {
        Ok((address, task)) => Guest {
            state: Some(ListenerState::at(format!("http://{address}"))),
            task: Some(task),
        },
        Err(failure) => {
            tracing::warn!(
                hint = failure.hint,
                "the API is not served: {}",
                failure.message
            );
            Guest {
                state: Some(ListenerState::failed(&failure)),
                task: None,
            }
        }
    }
}

fn begin(host: Host) -> Done<(SocketAddr, JoinHandle<()>)> {
    let (listener, address) = listen::bind(&host.config.listen)?;
    let home = host.app.home().to_owned();
    let server = Arc::new(Server {
        app: host.app,
        workspace: host.workspace,
        tokens: TokenBook::open(&home)?,
        hosts: AllowedHosts::new(&host.config.listen),
        rate: RateLimit::default(),
        replies: Replies::default(),
        hub: Hub::new(),
        audit: AuditLog::open(&home, host.log_limits),
        threads: Semaphore::new(THREADS),
        feeds: Arc::new(Semaphore::new(FEEDS)),
        mcp: OnceLock::new(),
        stop: host.stop,
    });
    let task = tokio::spawn(async move {
        let followed = server.hub.follow(&server.app, &server.stop);
        tokio::join!(listen::serve(listener, &server), followed);
    });
    Ok((address, task))
}
