//! Other programs in which deft can be installed as an MCP server.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program that starts MCP servers.
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
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Goose,
    ];

    /// Its word.
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

    /// Its name for people.
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

/// For whom a program keeps its servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostScope {
    /// For the user, in every folder.
    User,
    /// For the current folder.
    Project,
}

impl HostScope {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The effect of an installation on the file of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InstallEffect {
    Added,
    Changed,
    Removed,
    Unchanged,
}

impl InstallEffect {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
        }
    }
}

/// The document of `deft mcp install`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostInstall {
    /// Always `true`.
    pub ok: bool,
    pub client: HostClient,
    pub scope: HostScope,
    /// The name of the entry.
    pub server: String,
    pub path: String,
    pub effect: InstallEffect,
    pub dry_run: bool,
    /// The lines that change, as `-` and `+`. Lines of other entries are left out.
    pub diff: String,
    /// The copy of the file as it was before.
    pub backup: Option<String>,
    /// What the person has to do.
    pub next: Vec<String>,
}
