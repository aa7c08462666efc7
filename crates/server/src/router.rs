//! The router: all routes, behind the guard.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Extension, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Response};
use axum::middleware;
use axum::routing::{MethodFilter, any, get, on, post};
use deft_wire::Failure;
use tower_http::compression::CompressionLayer;

use crate::context::Server;
use crate::dispatch::dispatch;
use crate::request_id::RequestId;
use crate::route::{Route, Verb};
use crate::{feed, guard, health, hooks, metrics, mount, page, reply, routes};

/// Builds the router.
pub(crate) fn build(server: &Arc<Server>) -> Router {
    let mut router = Router::new()
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route(metrics::PATH, get(metrics::show))
        .route("/api/openapi.json", get(describe))
        .route("/api/v1/events", get(feed::stream))
        .route(page::PATH, get(page::open))
        .route(page::SCRIPT, get(page::script))
        .route(page::STYLE, get(page::style))
        .route(page::SIGN_IN, post(page::sign_in))
        .route("/ws", get(feed::upgrade))
        .route("/hooks/{name}", post(hooks::receive))
        .route("/mcp", any(mount::serve));
    for route in routes::table() {
        router = add(router, route);
    }
    router
        .fallback(no_such_page)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(server),
            guard::guard,
        ))
        .layer(CompressionLayer::new().gzip(true))
        .with_state(Arc::clone(server))
}

fn add(router: Router<Arc<Server>>, route: Route) -> Router<Arc<Server>> {
    let filter = match route.verb {
        Verb::Get => MethodFilter::GET,
        Verb::Post => MethodFilter::POST,
        Verb::Put => MethodFilter::PUT,
        Verb::Delete => MethodFilter::DELETE,
    };
    let path = route.path;
    let route = Arc::new(route);
    let handler = move |axum::extract::State(server), request: Request| {
        dispatch(server, Arc::clone(&route), request)
    };
    router.route(path, on(filter, handler))
}

/// The OpenAPI document of all routes.
const DOCUMENT: &str = include_str!("openapi.json");

async fn describe() -> Response<Body> {
    let mut response = Response::new(Body::from(DOCUMENT));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}

async fn no_such_page(Extension(id): Extension<RequestId>) -> Response<Body> {
    let failure = Failure::input("no_such_page", "unknown address");
    let failure = failure.hint("`/api/openapi.json` lists all addresses");
    reply::problem(&failure, &id)
}

async fn wrong_method(Extension(id): Extension<RequestId>) -> Response<Body> {
    let message = "this address does not support this method";
    let failure = Failure::input("method_not_allowed", message);
    let failure = failure.hint("`/api/openapi.json` lists the methods");
    reply::problem(&failure, &id)
}
