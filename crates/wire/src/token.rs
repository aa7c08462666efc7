//! Tokens of the API, and the log of what was done with them.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a token allows. Each scope includes those before it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// Looking.
    Read,
    /// Running skills, calling tools and answering questions.
    Run,
    /// Changing skills, schedules and settings.
    Admin,
}

impl TokenScope {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }
}

/// A token without itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenView {
    pub name: String,
    pub scope: TokenScope,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
}

/// The document of `deft tokens list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    pub tokens: Vec<TokenView>,
}

/// The document of `deft tokens add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenAdded {
    pub ok: bool,
    pub name: String,
    pub scope: TokenScope,
    /// The token itself; it is not stored and cannot be shown again.
    pub token: String,
}

/// The document of `deft tokens revoke`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenRevoked {
    pub ok: bool,
    pub revoked: String,
}

/// A line of `logs/audit.jsonl`: a request that could change something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditEntry {
    #[schemars(with = "String")]
    pub timestamp: Timestamp,
    /// The name of the token.
    pub who: String,
    /// The address of the client.
    pub from: String,
    /// The method and the address, without the query.
    pub what: String,
    /// The HTTP status of the reply.
    pub status: u16,
    pub request_id: String,
}
