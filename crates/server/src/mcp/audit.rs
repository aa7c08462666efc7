//! Audit log entries for MCP clients over HTTP: which tool a client called and which task it answered or
//! cancelled. The HTTP request has its own entry, which does not show this.
//!
//! Not here: the log itself, and clients over stdio, which are programs of the user.

use axum::http::StatusCode;
use axum::http::request::Parts;
use rmcp::model::ErrorCode;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use crate::audit_trail::{Audit, Sender};

/// The sender of a message, and the log to write to. The router in front of `/mcp` adds it to each request.
#[derive(Clone)]
pub struct AuditTrail {
    /// The log to write to.
    pub audit: Audit,
    /// The sender.
    pub sender: Sender,
}

/// Logs the `method` that a client called on `subject`, such as a tool.
pub(super) fn note<T>(
    context: &RequestContext<RoleServer>,
    method: &str,
    subject: &str,
    result: &Result<T, ErrorData>,
) {
    let parts = context.extensions.get::<Parts>();
    let Some(AuditTrail { audit, sender }) =
        parts.and_then(|parts| parts.extensions.get::<AuditTrail>())
    else {
        return;
    };
    let operation = format!("{method} {subject}");
    match result {
        Ok(_) => audit.note(sender, &operation, StatusCode::OK.as_u16()),
        Err(error) if is_refusal(error) => {
            audit.note_refused(sender, &operation, StatusCode::BAD_REQUEST.as_u16());
        }
        Err(_) => audit.note(sender, &operation, StatusCode::BAD_REQUEST.as_u16()),
    }
}

/// Whether the request named something unknown, and so has changed nothing.
fn is_refusal(error: &ErrorData) -> bool {
    matches!(
        error.code,
        ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND
    )
}
