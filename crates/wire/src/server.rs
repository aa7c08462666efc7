//! MCP servers: what is configured, what a probe found, and changes to the configuration.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use deft_model::FailureClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema::words_or_null;

/// The document of `deft mcp list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerList {
    pub servers: Vec<ServerView>,
}

/// A server and what is known about it without asking it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerView {
    pub name: String,
    pub transport: Transport,
    /// The URL, or the command line for people to recognise.
    pub target: String,
    pub enabled: bool,
    /// How many tools it listed when it last answered.
    pub tools: Option<usize>,
    pub listed_at: Option<String>,
    pub protocol: Option<String>,
    pub implementation: Option<String>,
    /// Why the last attempt to ask it failed, unless it has answered since.
    pub error: Option<String>,
    pub failed_at: Option<String>,
    /// The sign-in, for a server that was signed in to.
    pub sign_in: Option<SignInView>,
}

/// A sign-in to a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInView {
    pub state: SignInWord,
    /// When its token ends.
    pub until: Option<String>,
    /// Whether deft renews it by itself.
    pub renewable: bool,
    pub scopes: Vec<String>,
    /// The authorization server.
    pub issuer: Option<String>,
}

/// The state of a sign-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SignInWord {
    Valid,
    /// Its token has ended, and is renewed with the next call.
    Renewable,
    /// Only a new sign-in helps.
    Ended,
}

/// The document of `deft mcp login`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignedIn {
    /// Always `true`.
    pub ok: bool,
    pub server: String,
    pub sign_in: SignInView,
    /// How many tools the server lists.
    pub tools: Option<usize>,
    /// Why it could not be asked, if so.
    pub error: Option<String>,
}

/// The document of `deft mcp logout`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignedOut {
    /// Always `true`.
    pub ok: bool,
    pub server: String,
    /// Whether there was a sign-in.
    pub removed: bool,
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    Http,
    Stdio,
}

impl Transport {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Stdio => "stdio",
        }
    }
}

/// The document of `deft mcp probe`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeList {
    /// Whether every server answered.
    pub ok: bool,
    pub servers: Vec<ProbeView>,
    /// Servers that are switched off and were not asked.
    pub disabled: Vec<String>,
}

/// What connecting to a server showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeView {
    pub server: String,
    pub implementation: Option<String>,
    pub protocol: Option<String>,
    pub tools: Vec<String>,
    /// Tools that cannot be used; left out when there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled: Vec<UnusableTool>,
    /// Milliseconds to connect; zero when it was connected already.
    pub connect: f64,
    /// Milliseconds of one listing.
    pub latency: f64,
    pub error: Option<String>,
    pub hint: Option<String>,
    pub ok: bool,
    pub era: Option<ProtocolEra>,
    #[schemars(schema_with = "words_or_null::<FailureClass>")]
    pub class: Option<FailureClass>,
    /// The sign-in, for a server that was signed in to.
    pub sign_in: Option<SignInView>,
}

/// A tool of a probed server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnusableTool {
    pub name: String,
    pub reason: String,
}

/// How connections to a server begin, which depends on the revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProtocolEra {
    /// With `initialize`, as in all revisions with sessions.
    Initialize,
    /// With `server/discover`, as in revisions without sessions.
    Discover,
}

/// The document of `deft mcp add`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerAdded {
    /// Always `true`.
    pub ok: bool,
    pub changed: bool,
    pub path: String,
    pub server: String,
    pub warnings: Vec<String>,
}

/// The document of `deft mcp remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRemoved {
    /// Always `true`.
    pub ok: bool,
    pub removed: String,
    pub path: String,
}

/// The document of `deft mcp import`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerImport {
    /// Whether no entry was refused.
    pub ok: bool,
    pub dry_run: bool,
    pub path: String,
    pub servers: Vec<ImportedServer>,
}

/// What happened to one entry of the imported file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedServer {
    pub name: String,
    pub effect: ImportEffect,
    /// Why it was refused.
    pub reason: Option<String>,
    pub warnings: Vec<String>,
}

/// The effect of importing one entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportEffect {
    New,
    Replaced,
    Unchanged,
    Refused,
}

impl ImportEffect {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Replaced => "replaced",
            Self::Unchanged => "unchanged",
            Self::Refused => "refused",
        }
    }

    /// Whether the configuration changes.
    pub fn changes(self) -> bool {
        matches!(self, Self::New | Self::Replaced)
    }
}
