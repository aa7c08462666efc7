//! The client's side of a relayed request: capabilities, questions, progress and logs.

#![expect(deprecated, reason = "clients of older revisions use these")]

use axum::http::request::Parts;
use deft_service::relay::RelayClient;
use rmcp::ErrorData;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ErrorCode, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion, RequestMetaObject, ServerRequest,
};
use rmcp::service::{RequestContext, ServiceError};

use super::session::Session;
use crate::access::Caller;

/// Prefix of `_meta` keys that belong to a single connection.
const RESERVED: &str = "io.modelcontextprotocol/";
const PROGRESS: &str = "progressToken";

/// The client behind a request.
pub(super) struct ClientSide<'a> {
    context: &'a RequestContext<RoleServer>,
    capabilities: ClientCapabilities,
    /// Whether the client is of the newer era: it repeats requests instead of answering requests.
    pub(super) is_modern: bool,
    level: Option<String>,
    session: u64,
}

impl<'a> ClientSide<'a> {
    pub(super) fn new(context: &'a RequestContext<RoleServer>, session: &Session) -> Self {
        let version = context.protocol_version();
        let is_modern = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let declared = context.client_capabilities().unwrap_or_default();
        // Extensions apply only between a client and deft.
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = declared.elicitation;
        capabilities.sampling = declared.sampling;
        capabilities.roots = declared.roots;
        let level = if is_modern {
            context.meta.log_level().map(|level| word(level).to_owned())
        } else {
            session.level()
        };
        Self {
            context,
            capabilities,
            is_modern,
            level,
            session: session.id,
        }
    }

    /// Describes the client to servers.
    pub(super) fn describe(&self) -> RelayClient {
        RelayClient {
            capabilities: self.capabilities.clone(),
            session: (!self.is_modern).then_some(self.session),
            log_level: self.level.clone(),
        }
    }

    /// Returns the id of the caller's token; empty without one.
    pub(super) fn caller(&self) -> &str {
        let parts = self.context.extensions.get::<Parts>();
        let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
        caller.map_or("", |caller| caller.token.as_str())
    }

    /// Returns the request's `_meta` without the keys that are meant for deft only.
    pub(super) fn meta(&self) -> RequestMetaObject {
        let mut meta = self.context.meta.clone();
        let is_ours = |key: &str| key == PROGRESS || key.starts_with(RESERVED);
        meta.0.0.retain(|key, _| !is_ours(key));
        meta
    }

    pub(super) async fn wait_until_cancelled(&self) {
        self.context.ct.cancelled().await;
    }

    /// Sends progress to the client, if the client asked for it.
    pub(super) async fn progress(&self, mut progress: ProgressNotificationParam) {
        if let Some(token) = self.context.meta.get_progress_token() {
            progress.progress_token = token;
            // A disconnected client needs no progress.
            drop(self.context.peer.notify_progress(progress).await);
        }
    }

    /// Forwards a log message, if the client wants it. A client of the newer era states its level in each
    /// request.
    pub(super) async fn log(&self, line: LoggingMessageNotificationParam) {
        let least = self.level.as_deref();
        let wanted = match least.and_then(read) {
            Some(least) => severity(line.level) >= severity(least),
            None => !self.is_modern,
        };
        if wanted {
            drop(self.context.peer.notify_logging_message(line).await);
        }
    }

    /// Whether the client's capabilities allow this request.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "`rmcp` has many kinds of messages and may add more"
    )]
    pub(super) fn can(&self, request: &ServerRequest) -> bool {
        match request {
            ServerRequest::ElicitRequest(_) => self.capabilities.elicitation.is_some(),
            ServerRequest::CreateMessageRequest(_) => self.capabilities.sampling.is_some(),
            ServerRequest::ListRootsRequest(_) => self.capabilities.roots.is_some(),
            _ => false,
        }
    }

    /// Asks a client of the older era.
    pub(super) async fn ask(&self, request: ServerRequest) -> Result<ClientResult, ErrorData> {
        let asked = self.context.peer.send_request(request).await;
        asked.map_err(|error| {
            if let ServiceError::McpError(error) = error {
                return error;
            }
            ErrorData::internal_error(format!("the client did not answer: {error}"), None)
        })
    }
}

/// Creates the error for a request that the client does not support.
pub(super) fn unsupported_error() -> ErrorData {
    let message = "the client does not support this";
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}

fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

fn read(word: &str) -> Option<LoggingLevel> {
    serde_json::from_value(serde_json::json!(word)).ok()
}

/// Returns the MCP name of a log level.
pub(in crate::mcp) fn word(level: LoggingLevel) -> &'static str {
    match level {
        LoggingLevel::Debug => "debug",
        LoggingLevel::Info => "info",
        LoggingLevel::Notice => "notice",
        LoggingLevel::Warning => "warning",
        LoggingLevel::Error => "error",
        LoggingLevel::Critical => "critical",
        LoggingLevel::Alert => "alert",
        LoggingLevel::Emergency => "emergency",
    }
}
