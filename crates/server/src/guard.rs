//! Middleware for every request: assigns an id, checks the host, the origin, the token and the rate, sets
//! common headers, and logs. Logged addresses omit the query, which may contain a token. A flood of refused
//! requests fills no log.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::header::{CACHE_CONTROL, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::http::{Method, Response, StatusCode};
use axum::middleware::Next;
use deft_service::tokens::{TokenId, TokenOwner};
use deft_wire::token::TokenScope as Scope;
use deft_wire::{Done, Failure};

use crate::access::{self, Caller};
use crate::audit_trail::{Sender, shorten};
use crate::context::{Peer, Server};
use crate::page::{self, CreatedToken};
use crate::rate::RequestKind;
use crate::request_id::{HEADER, RequestId};
use crate::{hooks, metrics, reply, revocation};

/// Paths that need no token.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// Status in the audit log for a client that disconnected before the response.
const CLIENT_GONE: u16 = 499;

/// Name of callers without a token.
const ANYONE: &str = "anyone";

/// Name of callers that send deliveries to hooks.
const HOOK: &str = "hook";

/// A request that may change something. It is logged on drop, and therefore even if the client disconnects
/// early: it may have taken effect nevertheless.
struct AuditedRequest<'a> {
    server: &'a Server,
    sender: Sender,
    operation: String,
    status: u16,
}

impl Drop for AuditedRequest<'_> {
    fn drop(&mut self) {
        let audit = &self.server.audit;
        // A delivery has no token. Its sender could disconnect early again and again to fill the log.
        let may_be_flood = self.sender.who == HOOK && self.status == CLIENT_GONE;
        if may_be_flood || is_refusal(self.status) {
            audit.note_refused(&self.sender, &self.operation, self.status);
        } else {
            audit.note(&self.sender, &self.operation, self.status);
        }
    }
}

/// Whether a response tells that the request was refused and has changed nothing.
fn is_refusal(status: u16) -> bool {
    (400..500).contains(&status) && status != CLIENT_GONE
}

/// Passes a request on if it is admitted; otherwise responds with a problem.
pub(crate) async fn guard(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let begun = Instant::now();
    let id = RequestId::read(request.headers());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let mut response = match admit(&server, &request, peer) {
        Ok(caller) => {
            let mut audited = (!is_read(&method)).then(|| AuditedRequest {
                server: &server,
                sender: Sender {
                    who: caller.name.clone(),
                    from: peer.0.to_string(),
                    request_id: id.0.clone(),
                },
                operation: format!("{method} {path}"),
                status: CLIENT_GONE,
            });
            request.extensions_mut().insert(caller.clone());
            request.extensions_mut().insert(id.clone());
            let response = next.run(request).await;
            let response = revocation::end_with_token(&server, caller, response);
            if let Some(audited) = &mut audited {
                audited.status = response.status().as_u16();
                if let Some(created) = response.extensions().get::<CreatedToken>() {
                    audited.sender.who.clone_from(&created.0);
                }
            }
            response
        }
        Err(failure) => reply::problem(&failure, &id),
    };
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        headers.insert(HEADER, value);
    }
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !is_expected(&server, &response) {
        log(&server, &method, &path, &response, &id, begun);
    }
    response
}

fn admit(server: &Server, request: &Request, peer: Peer) -> Done<Caller> {
    let (headers, uri) = (request.headers(), request.uri());
    server.hosts.check(headers, uri)?;
    let now = Instant::now();
    if server.stop.is_cancelled() && !OPEN.contains(&uri.path()) {
        let message = "deft is shutting down and accepts no requests";
        return Err(Failure::input("stopping", message).hint("retry after deft has restarted"));
    }
    let is_open_metrics = uri.path() == metrics::PATH && server.has_open_metrics;
    if OPEN.contains(&uri.path()) || is_open_metrics {
        return Ok(tokenless_caller(ANYONE));
    }
    if page::is_open(headers, uri) {
        server.rate.check(ANYONE, RequestKind::WithoutToken, now)?;
        return Ok(tokenless_caller(ANYONE));
    }
    if uri.path().starts_with(hooks::PREFIX) {
        // Each IP address has its own bucket, so one sender cannot block the deliveries of others.
        let sender = format!("hook {}", peer.0.ip());
        server.rate.check(&sender, RequestKind::WithoutToken, now)?;
        return Ok(tokenless_caller(HOOK));
    }
    let token = access::token(headers, uri);
    let found = token.and_then(|token| {
        let found = server.tokens.find(&token);
        found.ok_or_else(|| access::unauthorized_failure("the token is invalid"))
    });
    let caller = match found {
        Ok(TokenOwner { name, scope, id }) => Caller {
            name,
            scope,
            token: id,
        },
        Err(failure) => {
            server.rate.check("", RequestKind::WithoutToken, now)?;
            return Err(failure);
        }
    };
    let kind = if is_read(request.method()) {
        RequestKind::Read
    } else {
        RequestKind::Change
    };
    server.rate.check(&caller.name, kind, now)?;
    Ok(caller)
}

/// Creates a caller without a token.
fn tokenless_caller(name: &str) -> Caller {
    Caller {
        name: name.to_owned(),
        scope: Scope::Read,
        token: TokenId::default(),
    }
}

fn is_read(method: &Method) -> bool {
    method == Method::GET || method == Method::HEAD
}

/// Whether the response is a 503 from a stopping daemon, which is not logged.
fn is_expected(server: &Server, response: &Response<Body>) -> bool {
    server.stop.is_cancelled() && response.status() == StatusCode::SERVICE_UNAVAILABLE
}

/// Logs a request: server errors as errors, changes as info, reads only at debug level. Of a flood of refused
/// changes only the first are logged.
fn log(
    server: &Server,
    method: &Method,
    path: &str,
    response: &Response<Body>,
    id: &RequestId,
    begun: Instant,
) {
    let status = response.status().as_u16();
    let ms = begun.elapsed().as_millis();
    let (request, path) = (id.0.as_str(), shorten(path));
    if response.status().is_server_error() {
        tracing::error!(request, status, "{method} {path} failed after {ms} ms");
    } else if is_read(method) {
        tracing::debug!(request, status, "{method} {path} took {ms} ms");
    } else if !is_refusal(status) {
        tracing::info!(request, status, "{method} {path} took {ms} ms");
    } else if let Some(omitted) = server.refusals.admit(Instant::now()) {
        let omitted = (omitted > 0).then_some(omitted);
        tracing::info!(request, status, omitted, "{method} {path} took {ms} ms");
    }
}
