//! Types for MCP servers: configured servers, probe results, and changes to the configuration.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::FailureClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::words_or_null;

/// JSON output of `deft mcp list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerList {
    pub servers: Vec<ServerView>,
}

/// A configured server and what is known from earlier connections to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerView {
    pub name: String,
    pub transport: Transport,
    /// URL or command line of the server, for people to recognise it.
    pub target: String,
    pub enabled: bool,
    /// Number of tools in the last list from the server.
    pub tools: Option<usize>,
    pub listed_at: Option<String>,
    pub protocol: Option<String>,
    pub implementation: Option<String>,
    /// Why the last connection failed, unless a later one succeeded.
    pub error: Option<String>,
    pub failed_at: Option<String>,
    /// The sign-in, if a person signed in to the server.
    pub sign_in: Option<SignInView>,
}

/// A sign-in to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInView {
    pub state: SignInWord,
    /// When its token expires.
    pub until: Option<String>,
    /// Whether deft renews the token automatically.
    pub renewable: bool,
    pub scopes: Vec<String>,
    /// URL of the authorization server.
    pub issuer: Option<String>,
}

/// The state of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignInWord {
    Valid,
    /// The token has expired and is renewed with the next call.
    Renewable,
    /// Expired; a new sign-in is needed.
    Ended,
}

/// JSON output of `deft mcp login`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInResult {
    /// Always `true`.
    pub ok: bool,
    pub server: String,
    pub sign_in: SignInView,
    /// Number of tools that the server lists.
    pub tools: Option<usize>,
    /// Why the server could not be asked for its tools.
    pub error: Option<String>,
}

/// JSON output of `deft mcp logout`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignedOut {
    /// Always `true`.
    pub ok: bool,
    pub server: String,
    /// Whether a sign-in existed.
    pub removed: bool,
}

/// Transport used to reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    Http,
    Stdio,
}

impl Transport {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }
}

/// JSON output of `deft mcp probe`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeList {
    /// Whether every server answered.
    pub ok: bool,
    pub servers: Vec<ProbeView>,
    /// Disabled servers, which were not probed.
    pub disabled: Vec<String>,
}

/// Result of connecting to a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeView {
    pub server: String,
    pub implementation: Option<String>,
    pub protocol: Option<String>,
    pub tools: Vec<String>,
    /// Tools that cannot be used; absent if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<UnusableTool>,
    /// Time to connect, in milliseconds; zero if already connected.
    pub connect: f64,
    /// Time to list the tools, in milliseconds.
    pub latency: f64,
    pub error: Option<String>,
    pub hint: Option<String>,
    pub ok: bool,
    pub era: Option<ProtocolEra>,
    #[schemars(schema_with = "words_or_null::<FailureClass>")]
    pub class: Option<FailureClass>,
    /// The sign-in, if a person signed in to the server.
    pub sign_in: Option<SignInView>,
}

/// A tool of a probed server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnusableTool {
    pub name: String,
    pub reason: String,
}

/// How connections to a server begin, which depends on the protocol revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolEra {
    /// With `initialize`, in revisions with sessions.
    Initialize,
    /// With `server/discover`, in revisions without sessions.
    Discover,
}

/// JSON output of `deft mcp add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerAdded {
    /// Always `true`.
    pub ok: bool,
    pub changed: bool,
    pub path: String,
    pub server: String,
    pub warnings: Vec<String>,
}

/// JSON output of `deft mcp remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRemoved {
    /// Always `true`.
    pub ok: bool,
    pub removed: String,
    pub path: String,
}

/// JSON output of `deft mcp import`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerImport {
    /// Whether all entries were accepted.
    pub ok: bool,
    pub dry_run: bool,
    pub path: String,
    pub servers: Vec<ImportedServer>,
}

/// Result of importing one entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedServer {
    pub name: String,
    pub effect: ImportEffect,
    /// Why the entry was refused.
    pub reason: Option<String>,
    pub warnings: Vec<String>,
}

/// Effect of importing one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportEffect {
    New,
    Replaced,
    Unchanged,
    Refused,
}

impl ImportEffect {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
            Self::Refused => "refused",
        }
    }

    /// Whether the import of the entry changes the configuration.
    pub fn changes(self) -> bool {
        matches!(self, Self::New | Self::Replaced)
    }
}
