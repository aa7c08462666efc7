//! The folder that holds everything of deft.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document of `deft init`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HomeReady {
    /// Where the home is.
    pub home: String,
    /// Whether a configuration file was written.
    pub config_written: bool,
    /// How many files of skills were written.
    pub skills_written: usize,
}
