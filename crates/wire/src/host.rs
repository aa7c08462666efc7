//! MCP hosts in which deft can be installed as a server.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An MCP host: a program that starts MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostClient {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    #[serde(rename = "vscode")]
    VsCode,
    Codex,
    Goose,
}

impl HostClient {
    /// All clients.
    pub const ALL: [Self; 6] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Goose,
    ];

    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "claude-desktop",
            Self::ClaudeCode => "claude-code",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Goose => "goose",
        }
    }

    /// Returns the name shown to people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Codex => "Codex",
            Self::Goose => "goose",
        }
    }
}

/// Where an MCP host keeps its list of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostScope {
    /// For the user, in every folder.
    User,
    /// For the current folder.
    Project,
}

impl HostScope {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// Effect of an installation on the file of an MCP host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstallEffect {
    Added,
    Changed,
    Removed,
    Unchanged,
}

impl InstallEffect {
    /// Returns the name used in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// JSON output of `deft mcp install`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostInstall {
    /// Always `true`.
    pub ok: bool,
    pub client: HostClient,
    pub scope: HostScope,
    /// Name of the server entry.
    pub server: String,
    pub path: String,
    pub effect: InstallEffect,
    pub dry_run: bool,
    /// Changed lines, prefixed with `-` and `+`. Lines of other entries are left out.
    pub diff: String,
    /// Path of the backup of the file.
    pub backup: Option<String>,
    /// Steps left for the user.
    pub next: Vec<String>,
}
