//! Findings and actions of `deft setup`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::home::InitResult;
use crate::server::ImportedServer;

/// JSON output of `deft setup --yes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupReport {
    /// Whether no step failed. A machine without a model is not a failure.
    pub ok: bool,
    pub home: InitResult,
    pub found: SetupFindings,
    /// The model that agents use, if any.
    pub model: Option<SetupModel>,
    /// Folders added to `skills.paths`.
    pub skills: Vec<String>,
    pub servers: Vec<ImportedServer>,
    pub service: Option<ServiceUnit>,
    /// Suggested next commands.
    pub next: Vec<String>,
}

/// Everything found that can be used or imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupFindings {
    pub keys: Vec<FoundKey>,
    pub models: Vec<FoundModels>,
    pub skills: Vec<FoundSkills>,
    pub servers: Vec<FoundServers>,
    /// Number of lines in the user's crontab that start a program.
    pub crontab: usize,
}

impl SetupFindings {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
            && self.models.is_empty()
            && self.skills.is_empty()
            && self.servers.is_empty()
            && self.crontab == 0
    }
}

/// An API key in an environment variable, without its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundKey {
    /// Name of the provider, as used with `--provider`.
    pub provider: String,
    /// Name of the provider for people.
    pub title: String,
    pub variable: String,
}

/// A model server on this machine or in its local network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundModels {
    /// Name of the provider, as used with `--provider`.
    pub provider: String,
    /// Name of the server for people.
    pub title: String,
    pub base_url: String,
    pub models: Vec<String>,
}

/// A folder with another host's skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSkills {
    /// Path of the folder, as written to `skills.paths`.
    pub path: String,
    pub skills: usize,
    /// Whether the folder belongs to the current folder instead of the user.
    pub project: bool,
}

/// Another host's file with MCP servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundServers {
    /// Name of the other host, for people.
    pub title: String,
    pub path: String,
    pub servers: Vec<String>,
    /// Whether the file belongs to the current folder instead of the user.
    pub project: bool,
}

/// The model configured for agents after `deft setup`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupModel {
    /// Name of its section, `[llm.NAME]`.
    pub name: String,
    pub provider: String,
    pub model: String,
    pub base_url: Option<String>,
    /// Reference to its API key.
    pub api_key: Option<String>,
    /// Whether the configuration changed.
    pub changed: bool,
    /// Result of the test call, if one was made.
    pub test: Option<ModelTest>,
}

/// Result of a test call to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTest {
    pub ok: bool,
    pub latency_ms: u64,
    pub error: Option<String>,
    pub hint: Option<String>,
}

/// The service unit that starts deft at boot or login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceUnit {
    pub path: String,
    pub effect: UnitEffect,
    /// Command that starts the unit.
    pub command: String,
    pub started: bool,
    /// Why the unit was not started.
    pub error: Option<String>,
}

/// What `deft setup` did with the unit's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnitEffect {
    Written,
    /// The file already starts this program.
    Unchanged,
    /// The file was written by a person and was not changed.
    Kept,
}
