//! The log of a home.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Object;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JSON output of `deft logs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogDocument {
    /// The current log file. Older lines are in numbered files beside it.
    pub path: String,
    pub lines: Vec<LogLine>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// Null for a line that deft did not write.
    #[schemars(with = "Option<String>")]
    #[serde(rename = "timestamp")]
    pub at: Option<Timestamp>,
    /// `ERROR`, `WARN` or `INFO`.
    pub level: String,
    pub message: String,
    /// The part of deft that wrote the line.
    #[serde(default)]
    pub target: String,
    /// Further fields of the line.
    #[serde(flatten)]
    pub fields: Object,
}
