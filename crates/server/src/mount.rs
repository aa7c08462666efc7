//! `/mcp`: MCP behind the guard of this server. Requires the scope `run`, because its tools run skills.
//!
//! The service is created on the first request, so a daemon without MCP clients does not pay for it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::Response;
use deft_wire::Done;
use deft_wire::token::TokenScope;

use crate::access::Caller;
use crate::audit_trail::Sender;
use crate::context::{Peer, Server};
use crate::dispatch::{MAX_BODY, read_body};
use crate::mcp::{self, AuditTrail, McpServer};
use crate::reply;
use crate::request_id::RequestId;

/// Handles a request from an MCP client.
pub(crate) async fn serve(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Extension(peer): Extension<Peer>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response<Body> {
    let allowed = caller.check(TokenScope::Run);
    let read = match allowed {
        Ok(()) => read(&server, request).await,
        Err(failure) => Err(failure),
    };
    let mut request = match read {
        Ok(request) => request,
        Err(failure) => return reply::problem(&failure, &id),
    };
    request.extensions_mut().insert(AuditTrail {
        audit: server.audit.clone(),
        sender: Sender {
            who: caller.name,
            from: peer.0.to_string(),
            request_id: id.0,
        },
    });
    let service = server.mcp.get_or_init(|| {
        let handler = McpServer::new(Arc::clone(&server.app));
        mcp::service(
            handler,
            server.hosts.configured_names(),
            server.stop.clone(),
        )
    });
    service.handle(request, &caller.token).await
}

/// Reads the whole body of a request, within the limits of all bodies.
async fn read(server: &Server, request: Request) -> Done<Request> {
    let (head, body) = request.into_parts();
    let whole = Request::from_parts(head.clone(), body);
    let body = read_body(whole, MAX_BODY, server.limits.request_timeout).await?;
    Ok(Request::from_parts(head, Body::from(body)))
}
