//! Audit log entries for MCP clients over HTTP: which tool a client called and which task it answered or
//! cancelled. The HTTP request has its own entry, which does not show this.
//!
//! Not here: the log itself, and clients over stdio, which are programs of the user.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::request::Parts;
use deft_service::audit::AuditLog;
use deft_wire::token::AuditEntry;
use jiff::Timestamp;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// The sender of a message. The router in front of `/mcp` adds it to each request.
#[derive(Clone)]
pub struct AuditTrail {
    /// The log to write to.
    pub log: Arc<AuditLog>,
    /// Name of the token.
    pub who: String,
    /// Address of the client.
    pub from: String,
    /// Id of the request.
    pub request_id: String,
}

/// Logs the `method` that a client called on `subject`, such as a tool.
pub(super) fn note<T>(
    context: &RequestContext<RoleServer>,
    method: &str,
    subject: &str,
    result: &Result<T, ErrorData>,
) {
    let parts = context.extensions.get::<Parts>();
    let Some(trail) = parts.and_then(|parts| parts.extensions.get::<AuditTrail>()) else {
        return;
    };
    let status = match result {
        Ok(_) => StatusCode::OK,
        Err(_) => StatusCode::BAD_REQUEST,
    };
    trail.log.note(&AuditEntry {
        timestamp: Timestamp::now(),
        who: trail.who.clone(),
        from: trail.from.clone(),
        what: format!("{method} {subject}"),
        status: status.as_u16(),
        request_id: trail.request_id.clone(),
    });
}
