//! The checks of `deft doctor`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JSON output of `deft doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckList {
    /// Whether no check failed.
    pub ok: bool,
    pub checks: Vec<Check>,
}

impl CheckList {
    /// Creates the report. `ok` is true if no check failed.
    pub fn new(checks: Vec<Check>) -> Self {
        let ok = checks.iter().all(|check| check.status != CheckStatus::Bad);
        Self { ok, checks }
    }
}

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Stable id of the check, such as `store.open`.
    pub id: String,
    /// What was checked, such as the server, if several checks share one id.
    pub subject: Option<String>,
    pub status: CheckStatus,
    pub message: String,
    pub hint: Option<String>,
}

/// Status of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CheckStatus {
    #[serde(rename = "ok")]
    Good,
    /// The check passed with a remark.
    #[serde(rename = "note")]
    Note,
    #[serde(rename = "bad")]
    Bad,
}

impl CheckStatus {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Bad => "bad",
        }
    }
}
