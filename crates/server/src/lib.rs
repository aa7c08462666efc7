//! The HTTP API of deft: a listener inside the daemon, for programs with a token. The module [`mcp`] serves
//! MCP.
//!
//! Every request passes `guard.rs`, which checks the sender, the origin and the rate. Not here: what a
//! request does (`service`) and the JSON types (`wire`).

mod access;
mod answer;
mod audit_trail;
mod blocking;
#[cfg(test)]
mod command_tests;
mod connection_permits;
mod context;
mod deliveries;
mod description;
mod dispatch;
mod feed;
mod guard;
mod health;
mod hooks;
mod hosts;
mod hub;
mod listen;
pub mod mcp;
mod metrics;
mod mount;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod openapi_tests;
mod page;
mod pages;
mod rate;
mod refusals;
mod replies;
mod reply;
mod request_id;
mod revocation;
mod route;
mod router;
mod routes;
#[cfg(test)]
mod scope_tests;
mod stall;
#[cfg(test)]
mod stored_json_tests;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use deft_service::audit::AuditLog;
use deft_service::daemon::{Host, ServerConfig, ServerHandle};
use deft_service::hooks::HookConfigs;
use deft_service::kept_replies::ReplyFiles;
use deft_service::tls::{TlsFiles, TlsReloader};
use deft_service::tokens::TokenBook;
use deft_wire::Done;
use deft_wire::listener::ListenerState;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::audit_trail::Audit;
use crate::context::{DELIVERY_THREADS, Limits, Server, THREADS};
use crate::hosts::AllowedHosts;
use crate::hub::Hub;
use crate::pages::PageCache;
use crate::rate::RateLimit;
use crate::refusals::Refusals;
use crate::replies::Replies;

/// Starts the listener as configured. The daemon also works without it: a failure is logged and returned in
/// the guest's state.
pub fn start(host: Host) -> ServerHandle {
    if !host.config.enabled {
        return ServerHandle::default();
    }
    match begin(host) {
        Ok((state, task)) => ServerHandle {
            state: Some(state),
            task: Some(task),
        },
        Err(failure) => {
            tracing::warn!(
                hint = failure.hint,
                "cannot serve the API: {}",
                failure.message
            );
            ServerHandle {
                state: Some(ListenerState::from_failure(&failure)),
                task: None,
            }
        }
    }
}

fn begin(host: Host) -> Done<(ListenerState, JoinHandle<()>)> {
    let config = &host.config;
    let tls = TlsFiles::from_config(config)?
        .map(TlsReloader::open)
        .transpose()?;
    let (listener, address) = listen::bind(&config.listen, tls.is_some())?;
    let state = describe_listener(config, address, tls.is_some());
    let home = host.app.home().to_owned();
    let server = Arc::new(Server {
        app: host.app,
        workspace: host.workspace,
        runner: host.runner,
        tokens: TokenBook::open(&home)?,
        hosts: AllowedHosts::new(config),
        rate: RateLimit::new(config.reads_per_second, config.changes_per_second),
        replies: Replies::new(ReplyFiles::open(&home)),
        pages: PageCache::default(),
        hub: Hub::new(),
        audit: Audit::new(AuditLog::open(&home, host.log_limits)),
        refusals: Refusals::new(Instant::now()),
        limits: Limits {
            request_timeout: config.request_timeout,
            connections: config.max_connections,
            feeds: Limits::feeds(host.open_files),
        },
        hooks: HookConfigs::open(&home),
        deliveries: Arc::default(),
        delivery_threads: Arc::new(Semaphore::new(DELIVERY_THREADS)),
        threads: Arc::new(Semaphore::new(THREADS)),
        feeds: Arc::new(Semaphore::new(Limits::feeds(host.open_files))),
        mcp: OnceLock::new(),
        metrics: host.metrics,
        has_open_metrics: host.open_metrics && address.ip().is_loopback(),
        stop: host.stop,
        drained: host.drained,
    });
    let task = tokio::spawn(async move {
        let followed = server.hub.follow(&server.app, &server.stop);
        tokio::join!(listen::serve(listener, tls, &server), followed);
    });
    Ok((state, task))
}

/// Returns the addresses for clients. Without encryption the listener is bound to this machine, and a
/// configured host is the name of a tunnel or proxy; a browser must not send a sign-in code there.
fn describe_listener(
    config: &ServerConfig,
    address: SocketAddr,
    is_encrypted: bool,
) -> ListenerState {
    let url = public_url(config, address, is_encrypted);
    let local = format!("http://{address}");
    ListenerState {
        page_url: (!is_encrypted && local != url).then_some(local),
        ..ListenerState::from_url(url)
    }
}

/// Returns the URL for clients: with the first configured host, which the certificate covers; or with
/// `127.0.0.1` if the listener is bound to all addresses.
fn public_url(config: &ServerConfig, address: SocketAddr, is_encrypted: bool) -> String {
    let scheme = if is_encrypted { "https" } else { "http" };
    let port = address.port();
    match config.hosts.first() {
        Some(host) => format!("{scheme}://{host}:{port}"),
        None if address.ip().is_unspecified() => format!("{scheme}://127.0.0.1:{port}"),
        None => format!("{scheme}://{address}"),
    }
}
