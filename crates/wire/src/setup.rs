//! What `deft setup` found on a machine, and what it did about it.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::home::HomeReady;
use crate::server::ImportedServer;

/// The document of `deft setup --yes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetupReport {
    /// Whether nothing failed; a machine without a model is no failure.
    pub ok: bool,
    pub home: HomeReady,
    pub found: SetupFindings,
    /// The model that agents use, if there is one.
    pub model: Option<SetupModel>,
    /// Folders that were added to `skills.paths`.
    pub skills: Vec<String>,
    pub servers: Vec<ImportedServer>,
    pub service: Option<ServiceUnit>,
    /// Commands to try next.
    pub next: Vec<String>,
}

/// Everything that can be used or imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupFindings {
    pub keys: Vec<FoundKey>,
    pub models: Vec<FoundModels>,
    pub skills: Vec<FoundSkills>,
    pub servers: Vec<FoundServers>,
    /// How many lines of the user's crontab start something.
    pub crontab: usize,
}

impl SetupFindings {
    /// Whether there is nothing to use or to import.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
            && self.models.is_empty()
            && self.skills.is_empty()
            && self.servers.is_empty()
            && self.crontab == 0
    }
}

/// An API key in the environment. The value is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundKey {
    /// The provider, as `--provider` takes it.
    pub provider: String,
    /// The provider for people.
    pub title: String,
    pub variable: String,
}

/// A model server on this machine or in its network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundModels {
    /// The provider, as `--provider` takes it.
    pub provider: String,
    /// The server for people.
    pub title: String,
    pub base_url: String,
    pub models: Vec<String>,
}

/// A folder of skills of another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSkills {
    /// The folder as `skills.paths` would have it.
    pub path: String,
    pub skills: usize,
    /// Whether it belongs to the current folder and not to the user.
    pub project: bool,
}

/// A file of another host with MCP servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundServers {
    /// The other host, for people.
    pub title: String,
    pub path: String,
    pub servers: Vec<String>,
    /// Whether it belongs to the current folder and not to the user.
    pub project: bool,
}

/// The model that agents use after `deft setup`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetupModel {
    /// The name of its section, `[llm.NAME]`.
    pub name: String,
    pub provider: String,
    pub model: String,
    pub base_url: Option<String>,
    /// The reference to its key.
    pub api_key: Option<String>,
    /// Whether the configuration changed.
    pub changed: bool,
    /// The call that tested it, if one was made.
    pub test: Option<ModelTest>,
}

/// One real call of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelTest {
    pub ok: bool,
    pub latency_ms: u64,
    pub error: Option<String>,
    pub hint: Option<String>,
}

/// The unit that starts deft with the computer or the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceUnit {
    pub path: String,
    pub effect: UnitEffect,
    /// The command that starts it.
    pub command: String,
    pub started: bool,
    /// Why it was not started.
    pub error: Option<String>,
}

/// What happened to the file of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnitEffect {
    Written,
    /// It starts this very program already.
    Unchanged,
    /// A person wrote it, so it stays as it is.
    Kept,
}
