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
    reply::json(StatusCode::OK, &health(Vec::new()))
}

/// The store answers, the scheduler runs, and the daemon is not about to stop. A daemon that waits for runs to end
/// answers this until they have.
pub(crate) async fn readyz(State(server): State<Arc<Server>>) -> Response<Body> {
    let mut reasons = deft_service::status::obstacles(&server.app).await;
    if server.stop.is_cancelled() {
        reasons.push("deft is about to stop".to_owned());
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
