//! API tokens, and the audit log of requests made with them.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rights of a token. Each scope includes the previous ones.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Read-only access.
    Read,
    /// Run skills, call tools and answer approvals.
    Run,
    /// Change skills, schedules and settings.
    Admin,
}

impl TokenScope {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }
}

/// A token, without its secret value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    pub name: String,
    pub scope: TokenScope,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    /// When it becomes invalid; absent if it is valid until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub expires_at: Option<Timestamp>,
}

impl TokenView {
    /// Whether the token is no longer valid at `now`.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// JSON output of `deft tokens list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    pub tokens: Vec<TokenView>,
}

/// JSON output of `deft tokens add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddTokenResult {
    pub ok: bool,
    pub name: String,
    pub scope: TokenScope,
    /// The token's value. It is not stored and cannot be shown again.
    pub token: String,
}

/// JSON output of `deft tokens revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRevoked {
    pub ok: bool,
    pub revoked: String,
}

/// JSON output of `deft open`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenResult {
    pub ok: bool,
    /// The address to open, with a sign-in code that works once.
    pub url: String,
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
    /// Whether a browser was started.
    pub opened: bool,
}

/// Response to `POST /sign-in`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInResult {
    pub ok: bool,
    /// Name of the new token.
    pub name: String,
    pub scope: TokenScope,
    /// The token's value. It is not stored and cannot be shown again.
    pub token: String,
    #[schemars(with = "String")]
    pub expires_at: Timestamp,
}

/// A line of `logs/audit.jsonl`: a request, command or message that may have changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    #[schemars(with = "String")]
    pub timestamp: Timestamp,
    /// Name of the token, or `user NAME` for the account that ran a command.
    pub who: String,
    /// Address of the client; `terminal` for a command, `stdio` for a message to `deft mcp serve`.
    pub from: String,
    /// Method and path of the request without the query, the command with its subject, or the message.
    pub what: String,
    /// HTTP status of the response, or the one that a message over HTTP would have had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Exit code of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
    /// Id of the request; absent for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
