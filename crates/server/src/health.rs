//! `/healthz` and `/readyz`: liveness and readiness of the daemon. They need no token and reveal nothing
//! else.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use deft_wire::listener::HealthView;

use crate::context::Server;
use crate::reply;

/// Liveness: succeeds whenever the process can respond.
pub(crate) async fn healthz() -> Response<Body> {
    reply::json(StatusCode::OK, &health(Vec::new()))
}

/// Readiness: succeeds if the store responds, the scheduler runs, and the daemon is not stopping. A stopping
/// daemon responds to this until its runs have ended.
pub(crate) async fn readyz(State(server): State<Arc<Server>>) -> Response<Body> {
    let mut reasons = deft_service::status::obstacles(&server.app).await;
    if server.stop.is_cancelled() {
        reasons.push("deft is shutting down".to_owned());
    }
    let status = if reasons.is_empty() {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    reply::json(status, &health(reasons))
}

fn health(reasons: Vec<String>) -> HealthView {
    HealthView {
        ok: reasons.is_empty(),
        reasons,
    }
}
