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
use crate::rate::{RequestKind, network};
use crate::request_id::{HEADER, RequestId};
use crate::{hooks, metrics, reply, revocation};

/// Paths that need no token.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// Status in the audit log for a client that disconnected before the response.
const CLIENT_GONE: u16 = 499;

/// Name of callers that ask for the page, sign in or check the health.
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
    has_token: bool,
}

impl Drop for AuditedRequest<'_> {
    fn drop(&mut self) {
        let audit = &self.server.audit;
        // Clients without a token could cause failures or disconnect early repeatedly to fill the log.
        let may_be_flood = !self.has_token && self.status >= 400;
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
    let mut has_token = false;
    let mut response = match admit(&server, &request, peer) {
        Ok(caller) => {
            has_token = caller.has_token();
            let mut audited = (!is_read(&method)).then(|| AuditedRequest {
                server: &server,
                sender: Sender {
                    who: caller.name.clone(),
                    from: peer.0.to_string(),
                    request_id: id.0.clone(),
                },
                operation: format!("{method} {path}"),
                status: CLIENT_GONE,
                has_token,
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
        let request = LoggedRequest {
            operation: format!("{method} {}", shorten(&path)),
            is_read: is_read(&method),
            has_token,
            id: &id,
            begun,
        };
        request.log(&server, response.status());
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
    let open_caller = if page::is_open(headers, uri) {
        Some(ANYONE)
    } else {
        uri.path().starts_with(hooks::PREFIX).then_some(HOOK)
    };
    if let Some(name) = open_caller {
        // Each address has its own bucket, so one client cannot keep others out.
        let sender = format!("{name} {}", network(peer.0.ip()));
        server.rate.check(&sender, RequestKind::WithoutToken, now)?;
        return Ok(tokenless_caller(name));
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

/// A request that has been handled.
struct LoggedRequest<'a> {
    operation: String,
    is_read: bool,
    has_token: bool,
    id: &'a RequestId,
    begun: Instant,
}

impl LoggedRequest<'_> {
    /// Logs the request: server errors as errors, changes as info, reads only at debug level. Of a flood of
    /// refused changes, or of failures that need no token, only the first are logged.
    fn log(&self, server: &Server, status: StatusCode) {
        let failed = status.is_server_error();
        let (request, operation) = (self.id.0.as_str(), &self.operation);
        let ms = self.begun.elapsed().as_millis();
        let number = status.as_u16();
        if self.is_read && !failed {
            tracing::debug!(request, status = number, "{operation} took {ms} ms");
            return;
        }
        let can_flood = is_refusal(number) || failed && !self.has_token;
        let omitted = if can_flood {
            let Some(omitted) = server.refusals.admit(Instant::now()) else {
                return;
            };
            (omitted > 0).then_some(omitted)
        } else {
            None
        };
        if failed {
            tracing::error!(
                request,
                status = number,
                omitted,
                "{operation} failed after {ms} ms"
            );
        } else {
            tracing::info!(
                request,
                status = number,
                omitted,
                "{operation} took {ms} ms"
            );
        }
    }
}
