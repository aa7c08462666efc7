//! Audit log entries for MCP clients: which tool a client called and which task it answered or cancelled. A
//! message over HTTP also has the entry of its request, which does not show this.
//!
//! Not here: the log itself.

use axum::http::StatusCode;
use axum::http::request::Parts;
use deft_service::Workspace;
use deft_service::audit::{AuditLog, account};
use rmcp::model::ErrorCode;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};

use super::call;
use crate::audit_trail::{Audit, Sender, shorten};

/// What an entry has as the address of a client on standard streams.
const STDIO: &str = "stdio";

/// The sender of a message, and the log to write to. The router in front of `/mcp` adds it to each request; a
/// server on standard streams has one for its only client.
#[derive(Clone)]
pub struct AuditTrail {
    /// The log to write to.
    pub audit: Audit,
    /// The sender.
    pub sender: Sender,
}

impl AuditTrail {
    /// Returns the trail of a client that started this process and talks to it over standard streams; `None`
    /// without a home.
    pub(super) fn of_stdio(workspace: &Workspace) -> Option<Self> {
        Some(Self {
            audit: Audit::new(AuditLog::find(workspace)?),
            sender: Sender {
                who: account(),
                from: STDIO.to_owned(),
                request_id: String::new(),
            },
        })
    }

    /// The trail of a message: that of its request, or `local` with the id of the message.
    fn find(context: &RequestContext<RoleServer>, local: Option<&Self>) -> Option<Self> {
        let parts = context.extensions.get::<Parts>();
        let of_request = parts.and_then(|parts| parts.extensions.get::<Self>());
        of_request.cloned().or_else(|| {
            let mut trail = local?.clone();
            if let Some(client) = context.client_info() {
                trail.sender.from = format!("{STDIO} ({})", shorten(&client.name));
            }
            trail.sender.request_id = call::message_id(context);
            Some(trail)
        })
    }
}

/// Logs the `method` that a client called on `subject`, such as a tool. `local` is the trail of messages that
/// come without an HTTP request.
pub(super) fn note<T>(
    context: &RequestContext<RoleServer>,
    local: Option<&AuditTrail>,
    method: &str,
    subject: &str,
    result: &Result<T, ErrorData>,
) {
    let Some(AuditTrail { audit, sender }) = AuditTrail::find(context, local) else {
        return;
    };
    let sender = &sender;
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
