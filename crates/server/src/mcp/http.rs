//! MCP over streamable HTTP, as a service to mount in a router.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use deft_service::tokens::TokenId;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::handler::McpServer;
use super::sessions::Sessions;
use crate::hosts::LOOPBACK;

/// The header with the id of a session.
const SESSION: &str = "mcp-session-id";

/// MCP over HTTP. It binds sessions to the token that began them.
pub struct McpService {
    service: StreamableHttpService<McpServer, Sessions>,
    sessions: Arc<Sessions>,
}

impl McpService {
    /// Handles a request with this token. The session of another token is unknown to it.
    pub async fn handle(&self, request: Request<Body>, token: &TokenId) -> Response<Body> {
        let given = session_id(request.headers());
        if given.is_some_and(|id| !self.sessions.may_use(id, token)) {
            let mut unknown = Response::new(Body::from("Not Found: Session not found"));
            *unknown.status_mut() = StatusCode::NOT_FOUND;
            return unknown;
        }
        let response = self.service.handle(request).await;
        if let Some(id) = session_id(response.headers()) {
            self.sessions.set_owner(id, token);
        }
        response.map(Body::new)
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION)?.to_str().ok()
}

/// Creates the service behind `/mcp`. Requests must name this machine or one of `hosts` as their host, and
/// pages of other origins are refused. The router in front of the service checks tokens. Cancelling `stop`
/// ends the service. Must be called inside a Tokio runtime, because a task ends the sessions of clients that
/// are gone.
pub fn service(server: McpServer, hosts: &[String], stop: CancellationToken) -> McpService {
    let hosts: Vec<String> = LOOPBACK
        .iter()
        .map(|host| (*host).to_owned())
        .chain(hosts.iter().cloned())
        .collect();
    let origins = hosts.iter().flat_map(|host| {
        let name = name_of(host);
        [format!("http://{name}:*"), format!("https://{name}:*")]
    });
    let origins: Vec<String> = origins.collect();
    let sessions = Arc::new(Sessions::new());
    let swept = Arc::clone(&sessions);
    let until = stop.clone();
    tokio::spawn(async move { swept.sweep(until).await });
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop)
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation();
    let handlers = Arc::clone(&sessions);
    McpService {
        service: StreamableHttpService::new(move || Ok(server.for_client()), handlers, config),
        sessions,
    }
}

/// A host without its port. The address of an IPv6 host has colons of its own, in brackets.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_cut_off_and_addresses_stay_whole() {
        for (host, name) in [
            ("localhost", "localhost"),
            ("deft.local:9876", "deft.local"),
            ("[::1]", "[::1]"),
            ("[::1]:9876", "[::1]"),
        ] {
            assert_eq!(name_of(host), name);
        }
    }
}
