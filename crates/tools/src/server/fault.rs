//! Converts errors of the protocol library to failures.
//!
//! Also decides whether a call may have taken effect: only if it was passed to the operating system. If
//! the server answered, the outcome is certain.

use std::time::Duration;

use deft_model::{Failure, FailureClass, clip};
use rmcp::model::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::auth::{AuthError, WWWAuthenticateParams};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
};

use super::watch::Watch;
use crate::classify;
use crate::limit::words;
use crate::redact::Redaction;
use crate::tool::DisabledTool;
use crate::transport::transport;

/// deft's error code for a reply that is too large to read.
pub(super) const TOO_LARGE: i32 = -39_901;
/// deft's error code for a reply that is not a valid message.
pub(super) const MALFORMED: i32 = -39_902;

/// The maximum length of an authorization server's error in a message, in characters.
const MAX_REASON_LEN: usize = 300;

/// The failure of a call, and whether the connection caused it.
pub(super) struct Fault {
    pub(super) failure: Failure,
    /// Whether the connection is at fault, as opposed to the tool.
    pub(super) transport: bool,
}

/// Classifies the failure of a call.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of errors and may add more"
)]
pub(super) fn classify_call(
    server: &str,
    error: &ServiceError,
    sent: bool,
    watch: &Watch,
    max_reply_bytes: usize,
) -> Fault {
    match error {
        ServiceError::McpError(error) => from_answer(server, error, max_reply_bytes),
        ServiceError::TransportSend(error) => {
            let failure = classify_transport(server, error);
            let transport = matches!(failure.class, FailureClass::Network | FailureClass::Timeout);
            Fault { failure, transport }
        }
        ServiceError::UnexpectedResponse => Fault {
            failure: malformed_failure(
                server,
                "the type of the response does not match the request",
            ),
            transport: false,
        },
        ServiceError::Cancelled { reason } => Fault {
            failure: Failure {
                in_doubt: sent,
                ..Failure::new(
                    FailureClass::Cancelled,
                    format!(
                        "the server `{server}` cancelled the call: {}",
                        reason.as_deref().unwrap_or("no reason given")
                    ),
                )
            },
            transport: false,
        },
        _ => Fault {
            failure: connection_lost_failure(server, sent, watch),
            transport: true,
        },
    }
}

/// Whether the transport created this error, as opposed to the server.
pub(super) fn is_own(error: &ErrorData) -> bool {
    matches!(error.code.0, TOO_LARGE | MALFORMED)
}

fn from_answer(server: &str, error: &ErrorData, max_reply_bytes: usize) -> Fault {
    let failure = match error.code.0 {
        TOO_LARGE => too_large(server, max_reply_bytes),
        MALFORMED => malformed_failure(server, &error.message),
        code => Failure::new(
            classify::rpc(code, &error.message),
            format!(
                "the server `{server}` answered with error {code}: {}",
                error.message
            ),
        ),
    };
    Fault {
        failure,
        transport: false,
    }
}

/// The tool did its work, but its reply could not be read.
pub(super) fn too_large(server: &str, max_reply_bytes: usize) -> Failure {
    Failure::new(
        FailureClass::Limit,
        format!("the reply of the server `{server}` is larger than {max_reply_bytes} bytes"),
    )
    .hint("ask for less, or raise `tools.max_reply_bytes`")
    .in_doubt()
}

pub(super) fn malformed_failure(server: &str, reason: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("the server `{server}` sent an invalid message: {reason}"),
    )
    .hint("the server is faulty; the call may have taken effect")
    .in_doubt()
}

/// Returns the failure of a call whose connection was lost.
pub(super) fn connection_lost_failure(server: &str, sent: bool, watch: &Watch) -> Failure {
    let failure = Failure::new(
        FailureClass::Network,
        format!(
            "lost the connection to the server `{server}`: {}",
            with_last_words(watch.end_reason(), watch)
        ),
    );
    Failure {
        in_doubt: sent,
        ..failure
    }
}

fn with_last_words(reason: String, watch: &Watch) -> String {
    match watch.last_words() {
        Some(words) => format!("{reason} (last stderr output: {words})"),
        None => reason,
    }
}

/// Classifies the failure to send a message.
fn classify_transport(server: &str, error: &DynamicTransportError) -> Failure {
    let name = |reason: &str| format!("the server `{server}` cannot be reached: {reason}");
    if let Some(error) = error.error.downcast_ref::<HttpError>() {
        return classify_http(server, error);
    }
    // The message was not written completely, so the server has not read it.
    Failure::new(FailureClass::Network, name(&error.error.to_string()))
}

fn is_http(error: &DynamicTransportError) -> bool {
    error.error.is::<HttpError>()
}

type HttpError = StreamableHttpError<reqwest::Error>;

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of errors and may add more"
)]
fn classify_http(server: &str, error: &HttpError) -> Failure {
    let refused = |class, status: u16| {
        let failure = Failure::new(
            class,
            format!("the server `{server}` answered with status {status}"),
        );
        Failure {
            in_doubt: classify::status_in_doubt(status),
            ..failure
        }
    };
    match error {
        HttpError::HttpStatus(HttpStatusError { status, .. }) => {
            refused(classify::status(*status), *status)
        }
        HttpError::AuthRequired(AuthRequiredError { .. }) => signed_out(server),
        HttpError::InsufficientScope(InsufficientScopeError {
            www_authenticate_header,
            ..
        }) => missing_scope(
            server,
            www_authenticate_header,
            refused(FailureClass::Auth, 403),
        ),
        HttpError::Auth(error) => not_renewed(server, error),
        HttpError::Client(error) => match error.status() {
            Some(status) => refused(classify::status(status.as_u16()), status.as_u16()),
            None => classify_request(server, error),
        },
        HttpError::SessionExpired => refused(FailureClass::NotFound, 404),
        other => {
            let failure = Failure::new(
                FailureClass::Network,
                format!("the server `{server}` cannot be reached: {other}"),
            );
            failure.in_doubt()
        }
    }
}

/// The server requires a token, or rejected the one it got.
fn signed_out(server: &str) -> Failure {
    Failure::new(
        FailureClass::Auth,
        format!("the server `{server}` requires a sign-in (status 401)"),
    )
    .hint(format!(
        "sign in with: deft mcp login {server}; or set a token in its `headers`"
    ))
}

/// The server requires a token with another scope.
fn missing_scope(server: &str, challenge: &str, refused: Failure) -> Failure {
    let Ok(anywhere) = reqwest::Url::parse("http://localhost") else {
        return refused;
    };
    let challenge = WWWAuthenticateParams::parse(challenge, &anywhere);
    let Some(scope) = challenge
        .scope
        .as_ref()
        .filter(|_| challenge.is_insufficient_scope())
    else {
        return refused;
    };
    Failure::new(
        FailureClass::Auth,
        format!("the sign-in at the server `{server}` does not allow this call (status 403): `{scope}` is missing"),
    )
    .hint(format!(
        "sign in again with: deft mcp login {server} --scope '{scope}'"
    ))
}

/// The token could be neither read nor renewed. Nothing was sent to the server.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of errors and may add more"
)]
fn not_renewed(server: &str, error: &AuthError) -> Failure {
    let class = match error {
        AuthError::TokenRefreshFailed(_)
        | AuthError::MetadataError(_)
        | AuthError::HttpError(_) => FailureClass::Network,
        _ => FailureClass::Auth,
    };
    let reason = clip(&error.to_string(), MAX_REASON_LEN);
    Failure::new(
        class,
        format!("the sign-in at the server `{server}` cannot be used: {reason}"),
    )
    .hint(format!("sign in again with: deft mcp login {server}"))
}

fn classify_request(server: &str, error: &reqwest::Error) -> Failure {
    let failure = transport(error);
    Failure {
        message: format!("the server `{server}`: {}", failure.message),
        ..failure
    }
}

/// Classifies the failure of a start.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "`rmcp` has many kinds of errors and may add more"
)]
pub(super) fn classify_start(
    server: &str,
    error: &ClientInitializeError,
    watch: &Watch,
    redaction: &Redaction,
) -> Failure {
    let failure = match error {
        ClientInitializeError::TransportError { error, .. } if is_http(error) => {
            classify_transport(server, error)
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            return classify_start(server, fallback, watch, redaction);
        }
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => Failure::new(
            FailureClass::Network,
            format!(
                "the server `{server}` could not be started: {}",
                with_last_words(watch.end_reason(), watch)
            ),
        )
        .hint("run its command by hand to see more"),
        other => Failure::new(
            FailureClass::Network,
            format!(
                "the server `{server}` could not be started: {}",
                with_last_words(brief(&other.to_string(), redaction), watch)
            ),
        ),
    };
    Failure {
        in_doubt: false,
        blocked: true,
        ..failure
    }
}

/// Shortens an error of the library, which can quote whole messages. Secrets are removed first: a
/// truncated secret would not be found.
fn brief(text: &str, redaction: &Redaction) -> String {
    clip(&redaction.text(text), 300)
}

/// Returns the failure of a start that timed out.
pub(super) fn slow_start(server: &str, allowed: &str, watch: &Watch) -> Failure {
    Failure::new(
        FailureClass::Network,
        format!(
            "the server `{server}` could not be started: {}",
            with_last_words(format!("it was not ready within {allowed}"), watch)
        ),
    )
    .hint("raise its `startup_timeout`")
    .mark_blocked()
}

/// Returns the failure of a call to a server whose circuit is open.
pub(super) fn circuit_open(server: &str, wait: Duration, last: Option<&str>) -> Failure {
    let because = last
        .map(|last| format!(" (last: {last})"))
        .unwrap_or_default();
    Failure::new(
        FailureClass::Network,
        format!(
            "the server `{server}` failed repeatedly; next attempt in {}{because}",
            words(wait)
        ),
    )
    .hint(format!("`deft mcp probe {server}` tries it now"))
    .mark_blocked()
}

pub(super) fn disabled_failure(server: &str) -> Failure {
    Failure::new(
        FailureClass::NotFound,
        format!("the server `{server}` is disabled"),
    )
    .hint(format!(
        "`deft config set mcp_servers.{server}.enabled true` enables it"
    ))
    .mark_blocked()
}

/// Returns the failure of a call of a disabled tool.
pub(super) fn disabled_tool(server: &str, tool: &DisabledTool) -> Failure {
    let DisabledTool { name, reason } = tool;
    Failure::new(
        FailureClass::Invalid,
        format!("the tool `{name}` of the server `{server}` is disabled: {reason}"),
    )
    .hint("the server is faulty; `deft mcp probe` lists its tools")
    .mark_blocked()
}

pub(super) fn closed_failure(server: &str) -> Failure {
    Failure::new(
        FailureClass::Network,
        format!("the server `{server}` is shut down"),
    )
    .mark_blocked()
}

/// Returns the failure of a call whose tool the server no longer lists.
pub(super) fn removed_tool(server: &str, tool: &str) -> Failure {
    Failure::new(
        FailureClass::NotFound,
        format!("the server `{server}` no longer has the tool `{tool}`"),
    )
    .hint("`deft tools list` shows all tools")
    .mark_blocked()
}

pub(super) fn unusable(server: &str, problem: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("the server `{server}` cannot be used: {problem}"),
    )
    .mark_blocked()
}

/// The server asks for input from a person in the middle of a call, which nothing here can answer.
pub(super) fn asks_back(server: &str) -> Failure {
    Failure::new(
        FailureClass::Invalid,
        format!("the server `{server}` requested input during a call, which is not supported"),
    )
}
