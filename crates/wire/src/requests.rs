//! Bodies and queries of HTTP requests about chats, skill files, servers, secrets, tokens and the home. Those about runs,
//! schedules, questions and tools are in `api.rs`.

#![allow(missing_docs, reason = "fields are named after the JSON")]

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::token::TokenScope;

/// A message to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatRequest {
    pub text: String,
    /// The conversation to continue, by its id or the beginning of it; a new one if it is not given.
    #[serde(default)]
    pub conversation: Option<String>,
    /// The agent that answers; the default one if it is not given.
    #[serde(default)]
    pub agent: Option<String>,
    /// The model that answers, if not the agent's.
    #[serde(default)]
    pub model: Option<String>,
}

/// Which conversations to list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatListQuery {
    /// Only conversations on this channel, such as `api`, `cli` or `telegram:CHAT`.
    pub channel: Option<String>,
    /// The most conversations, up to 500; 50 if it is not given.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// Which messages of conversations to find.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageQuery {
    /// Words, each of which has to occur; beginnings count.
    pub search: String,
    /// The most messages, up to 500; 50 if it is not given.
    #[serde(default)]
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<u32>,
}

/// The kind of a skill file.
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

/// A skill file to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSkillRequest {
    pub name: String,
    /// A man page for a dotted name, else a `SKILL.md`, if it is not given.
    #[serde(default)]
    pub kind: Option<SkillFileKind>,
    #[serde(default)]
    pub description: Option<String>,
}

/// The format of a file of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForeignFormat {
    Crontab,
    N8n,
}

/// Skills to import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkillImportRequest {
    /// Absolute paths of files, folders and archives on the machine of deft, addresses of repositories, or `crontab`.
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

/// A dialect to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Agentskills,
    Manpage,
    Workflow,
    Record,
}

/// How to export a skill.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExportQuery {
    /// The dialect; the files as they are if it is not given.
    pub format: Option<ExportFormat>,
}

/// How long the list of skills for a model may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SkillPromptQuery {
    /// Characters, up to 1,000,000; 15,000 if it is not given.
    #[schemars(range(max = 1_000_000))]
    pub budget: Option<u32>,
}

/// The revision to compare with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RevisionQuery {
    /// The revision before it if it is not given.
    pub base: Option<String>,
}

/// Runs to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PruneRequest {
    /// Runs that ended before this day or instant.
    pub before: Option<String>,
    /// Runs that are older than this, such as `30d`.
    pub older_than: Option<String>,
    pub dry_run: bool,
    /// Leave no copy in the trash.
    pub no_trash: bool,
}

/// A period to play through.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimulationBody {
    /// Now if it is not given.
    pub from: Option<String>,
    /// A day after `from` if it is not given.
    pub to: Option<String>,
    /// Periods during which the machine is down, each as `START..END`.
    pub down: Vec<String>,
    /// Only these skills, even if they are disabled.
    pub skills: Vec<String>,
}

/// A reminder in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReminderRequest {
    /// The text and the time: `drink water in 5m`.
    pub text: String,
    #[serde(default)]
    pub zone: Option<String>,
}

/// An MCP server to add: a `url` or a `command`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerRequest {
    pub name: String,
    #[serde(default)]
    pub url: Option<String>,
    /// The program and its arguments.
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

/// Servers to connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProbeRequest {
    /// One server; all that are enabled if it is not given.
    pub server: Option<String>,
}

/// A file with servers of another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerImportRequest {
    /// The absolute path of the file on the machine of deft.
    pub path: String,
    #[serde(default)]
    pub force: bool,
    #[serde(default)]
    pub dry_run: bool,
    /// Only the servers of these names.
    #[serde(default)]
    pub only: Option<Vec<String>>,
    /// Store secrets in plain text as secrets, so that the configuration has references.
    #[serde(default)]
    pub store_secrets: bool,
}

/// Limits to set, each as it is written on the command line; `none` removes a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetChange {
    /// Only for this agent.
    pub agent: Option<String>,
    pub tokens_per_day: Option<String>,
    pub usd_per_day: Option<String>,
    /// `pause`, `skip` or `ask`.
    pub on_exhausted: Option<String>,
    pub spike_tokens: Option<String>,
    pub spike_factor: Option<String>,
}

/// The value of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretRequest {
    pub value: String,
    /// Store it in a private file even if there is a keyring.
    #[serde(default)]
    pub file: bool,
}

/// Secrets to look for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SecretTestRequest {
    /// All if there are none.
    pub names: Vec<String>,
}

/// A token to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenRequest {
    pub name: String,
    pub scope: TokenScope,
}

/// Command lines, as a model writes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRequest {
    /// One command per line, or one call in JSON.
    pub text: String,
}

/// How many lines of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogQuery {
    /// Up to 5000; 50 if it is not given.
    #[schemars(range(min = 1, max = 5000))]
    pub lines: Option<u32>,
}
