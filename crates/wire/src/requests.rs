//! Bodies and queries of HTTP requests about chats, skill files, servers, secrets, tokens and the home. Those
//! about runs, schedules, approvals and tools are in `api.rs`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::TokenScope;

/// A chat message to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatRequest {
    pub text: String,
    /// Id, or a prefix of the id, of the conversation to continue. Default: a new conversation.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Agent that answers. Default: the default agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// Model that answers. Default: the model of the agent.
    #[serde(default)]
    pub model: Option<String>,
}

/// Query parameters for listing conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatListQuery {
    /// Only conversations on this channel, such as `api`, `cli` or `telegram:CHAT`.
    pub channel: Option<String>,
    /// `next_cursor` of the previous page.
    pub cursor: Option<String>,
    /// Maximum number of conversations, up to 500. Default: 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Query parameters for searching messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageQuery {
    /// Only messages that contain all of these words. Prefixes of words match too.
    pub search: String,
    /// Maximum number of messages, up to 500. Default: 50.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Kind of a skill file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkillFileKind {
    /// A `SKILL.md` folder of the open format.
    Skill,
    /// A man page, `domain/action.md`.
    Manpage,
    /// A YAML workflow.
    Workflow,
}

/// Request to create a skill file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSkillRequest {
    pub name: String,
    /// Kind of file. Default: a man page for a dotted name, otherwise a `SKILL.md`.
    #[serde(default)]
    pub kind: Option<SkillFileKind>,
    #[serde(default)]
    pub description: Option<String>,
}

/// Format of a file of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForeignFormat {
    Crontab,
    N8n,
}

/// Request to import skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillImportRequest {
    /// Absolute paths of files, folders and archives on the machine that runs deft, repository URLs, or
    /// `crontab`.
    pub paths: Vec<String>,
    #[serde(default)]
    pub format: Option<ForeignFormat>,
    /// Replace existing skills.
    #[serde(default)]
    pub force: bool,
    /// Skip existing skills.
    #[serde(default)]
    pub keep: bool,
    #[serde(default)]
    pub dry_run: bool,
}

/// Dialect to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Agentskills,
    Manpage,
    Workflow,
    Record,
}

/// Query parameters for exporting a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportQuery {
    /// Dialect to export to. Default: the unchanged files.
    pub format: Option<ExportFormat>,
}

/// Query parameter for the list of skills in a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillPromptQuery {
    /// Maximum length in characters, up to 1,000,000. Default: 15,000.
    #[schemars(range(max = 1_000_000))]
    pub budget: Option<u32>,
}

/// Query parameter for comparing revisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RevisionQuery {
    /// Revision to compare with. Default: the previous one.
    pub base: Option<String>,
}

/// Request to delete old runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PruneRequest {
    /// Runs that ended before this day or instant.
    pub before: Option<String>,
    /// Runs older than this, such as `30d`.
    pub older_than: Option<String>,
    pub dry_run: bool,
    /// Delete permanently, without a copy in the trash.
    pub no_trash: bool,
}

/// Request to simulate schedules over a period.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationBody {
    /// Start of the period. Default: now.
    pub from: Option<String>,
    /// End of the period. Default: one day after `from`.
    pub to: Option<String>,
    /// Periods during which the machine is down, each as `START..END`.
    pub down: Vec<String>,
    /// Only these skills, even if they are disabled.
    pub skills: Vec<String>,
}

/// Request to set a reminder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReminderRequest {
    /// Text and time of the reminder: `drink water in 5m`.
    pub text: String,
    #[serde(default)]
    pub zone: Option<String>,
}

/// Request to add an MCP server, by `url` or `command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerRequest {
    pub name: String,
    #[serde(default)]
    pub url: Option<String>,
    /// Program and its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Replace a server of the same name.
    #[serde(default)]
    pub force: bool,
}

/// Request to connect to servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProbeRequest {
    /// Name of one server. Default: all enabled servers.
    pub server: Option<String>,
}

/// Request to import the servers from another host's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerImportRequest {
    /// Absolute path of the file on the machine that runs deft.
    pub path: String,
    #[serde(default)]
    pub force: bool,
    #[serde(default)]
    pub dry_run: bool,
    /// Names of the servers to import. Default: all servers.
    #[serde(default)]
    pub only: Option<Vec<String>>,
    /// Move plaintext secrets into the secret store and write references to the configuration.
    #[serde(default)]
    pub store_secrets: bool,
}

/// Request to set budget limits. Values are written as on the command line; `none` removes a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetChange {
    /// Agent that the limits apply to. Default: all agents together.
    pub agent: Option<String>,
    pub tokens_per_day: Option<String>,
    pub usd_per_day: Option<String>,
    /// `pause`, `skip` or `ask`.
    pub on_exhausted: Option<String>,
    pub spike_tokens: Option<String>,
    pub spike_factor: Option<String>,
}

/// Request to store a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRequest {
    pub value: String,
    /// Store the secret in a private file even if a keyring is available.
    #[serde(default)]
    pub file: bool,
}

/// Request to check whether secrets can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretTestRequest {
    /// Names of the secrets. Default: all secrets.
    pub names: Vec<String>,
}

/// Request to create a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    pub name: String,
    pub scope: TokenScope,
}

/// Command lines to run, in the form that models write them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRequest {
    /// One command per line, or one call in JSON.
    pub text: String,
}

/// Query parameter for reading the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogQuery {
    /// Number of lines, up to 5000. Default: 50.
    #[schemars(range(min = 1, max = 5000))]
    pub lines: Option<u32>,
}
