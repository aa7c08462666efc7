//! `/metrics`: metrics of the daemon for Prometheus. Requires the scope `read`, unless the configuration
//! opens it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response};
use deft_service::telemetry::MEDIA_TYPE;
use deft_wire::token::TokenScope;

use crate::access::Caller;
use crate::context::Server;
use crate::reply;
use crate::request_id::RequestId;

/// Path of the page.
pub(crate) const PATH: &str = "/metrics";

/// Responds with all metrics.
pub(crate) async fn show(
    State(server): State<Arc<Server>>,
    Extension(caller): Extension<Caller>,
    Extension(id): Extension<RequestId>,
) -> Response<Body> {
    if let Err(failure) = caller.check(TokenScope::Read) {
        return reply::problem(&failure, &id);
    }
    let clients = server
        .limits
        .feeds
        .saturating_sub(server.feeds.available_permits());
    match server.metrics.text(clients).await {
        Ok(text) => {
            let mut response = Response::new(Body::from(text));
            let kind = HeaderValue::from_static(MEDIA_TYPE);
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response
        }
        Err(failure) => reply::problem(&failure, &id),
    }
}
