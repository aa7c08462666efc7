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

/// A line of `logs/audit.jsonl`: a request that may have changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    #[schemars(with = "String")]
    pub timestamp: Timestamp,
    /// Name of the token.
    pub who: String,
    /// Address of the client.
    pub from: String,
    /// Method and path of the request, without the query.
    pub what: String,
    /// HTTP status of the response.
    pub status: u16,
    pub request_id: String,
}
