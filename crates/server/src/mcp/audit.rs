//! Lines of the audit log for what MCP clients do over HTTP: which tool they called, which task they answered or
//! cancelled. The request itself has a line too, which only says that it came.
//!
//! Not here: the log, and clients over stdio, which are programs of the person.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::http::request::Parts;
use deft_service::audit::AuditLog;
use deft_wire::token::AuditEntry;
use jiff::Timestamp;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

/// Who sent a message and from where. The router in front of `/mcp` adds it to each request.
#[derive(Clone)]
pub struct AuditTrail {
    /// Where it is written down.
    pub log: Arc<AuditLog>,
    /// The name of the token.
    pub who: String,
    /// The address of the client.
    pub from: String,
    /// The id of the request.
    pub request_id: String,
}

/// Writes down what a message of a client did to `subject`, such as a tool.
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
