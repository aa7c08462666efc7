//! The checks of `deft doctor`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document of `deft doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckList {
    /// Whether no check failed.
    pub ok: bool,
    pub checks: Vec<Check>,
}

impl CheckList {
    /// The document of some checks.
    pub fn new(checks: Vec<Check>) -> Self {
        let ok = checks.iter().all(|check| check.status != CheckStatus::Bad);
        Self { ok, checks }
    }
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// A stable name, such as `store.open`.
    pub id: String,
    /// What the check is about, where one id covers several things, such as the server.
    pub subject: Option<String>,
    pub status: CheckStatus,
    pub message: String,
    pub hint: Option<String>,
}

/// The verdict of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CheckStatus {
    #[serde(rename = "ok")]
    Good,
    /// It works, and the message is worth knowing.
    #[serde(rename = "note")]
    Note,
    #[serde(rename = "bad")]
    Bad,
}

impl CheckStatus {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}
