//! The home folder.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// JSON output of `deft init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InitResult {
    /// Path of the home.
    pub home: String,
    /// Whether the configuration file was written.
    pub config_written: bool,
    /// Number of skill files written.
    pub skills_written: usize,
}
