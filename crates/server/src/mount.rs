//! `/mcp`: MCP behind the guard of this server. It needs the scope `run`, as its tools run skills.
//!
//! The service is made when a client first asks for it, so that a daemon without MCP clients does not pay for it.

use std::sync::Arc;

use axum::RequestExt;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::http::Response;
use deft_wire::token::TokenScope;

use crate::access::Caller;
use crate::context::Server;
use crate::mcp::{self, McpServer};
use crate::reply;
use crate::request_id::RequestId;

/// Answers a client of MCP.
pub(crate) async fn serve(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response<Body> {
    if let Err(failure) = caller.check(TokenScope::Run) {
        return reply::problem(&failure, &id);
    }
    let service = server.mcp.get_or_init(|| {
        let handler = McpServer::new(Arc::clone(&server.app));
        let hosts = [server.hosts.configured().to_owned()];
        mcp::service(handler, &hosts, server.stop.clone())
    });
    let response = service.clone().handle(request.with_limited_body()).await;
    response.map(Body::new)
}
