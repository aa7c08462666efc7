//! The log of a home.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::Object;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document of `deft logs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogDocument {
    /// The file that is written now; older lines are in numbered files beside it.
    pub path: String,
    pub lines: Vec<LogLine>,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// None for a line that deft did not write.
    #[schemars(with = "Option<String>")]
    #[serde(rename = "timestamp")]
    pub at: Option<Timestamp>,
    /// `ERROR`, `WARN` or `INFO`.
    pub level: String,
    pub message: String,
    /// Which part of deft wrote it.
    #[serde(default)]
    pub target: String,
    /// What else the line says.
    #[serde(flatten)]
    pub fields: Object,
}
