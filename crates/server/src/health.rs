//! `/healthz` and `/readyz`: whether the process lives, and whether it can work. They need no token and tell nothing
//! else.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use deft_wire::listener::HealthView;

use crate::context::Server;
use crate::reply;

/// The process answers.
pub(crate) async fn healthz() -> Response<Body> {
    reply::json(StatusCode::OK, &HealthView { ok: true })
}

/// The store answers, and the daemon is not about to stop.
pub(crate) async fn readyz(State(server): State<Arc<Server>>) -> Response<Body> {
    let works = !server.stop.is_cancelled() && deft_service::status::is_ready(&server.app).await;
    let status = if works {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    reply::json(status, &HealthView { ok: works })
}
