//! Settings from `config.toml` and from environment variables, which override it.
//!
//! The file is parsed into a tree that records the origin of each value (`tree`). The tree is checked against
//! one table of all keys (`table`, `kind`, `check`) and converted into typed settings (`read`). `edit`
//! changes the file and keeps its comments; `list`, `schema` and `reference` show the settings.
//!
//! Not here: the effect of the settings, secrets themselves (the file has references only), and printing.

mod channel;
mod check;
mod edit;
mod engine;
mod hook;
mod kind;
mod lenient;
mod list;
mod logs;
mod models_and_budgets;
mod problem;
mod read;
#[cfg(test)]
mod reference;
mod schema;
mod store;
mod table;
mod telemetry;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deft_engine::AgentOptions;
use deft_registry::{MAX_FILE_BYTES, read_text};
use jiff::tz::TimeZone;

pub use channel::ChannelKind;
pub use check::{bad_name, format_path};
pub use edit::{Editor, literal};
pub use engine::EngineConfig;
pub use hook::{HookConfig, HookScheme};
pub use kind::Kind;
pub use list::{Setting, all as all_settings, find as find_settings, split as split_key};
pub use logs::{LogConfig, LogLimits};
pub use models_and_budgets::{Allowance, BudgetConfig, ModelConfig};
pub use problem::Problem;
pub use schema::schema as config_schema;
pub use store::StorePath;
pub use telemetry::TelemetryConfig;
pub use tree::{Origin, Settings, read_value};

use crate::env;
use deft_wire::{Done, Failure};

/// The configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Skill folders in addition to the home's own.
    pub skill_paths: Vec<String>,
    /// The zone of times that name none.
    pub zone: Option<TimeZone>,
    /// Servers, and limits of the built-in tools.
    pub tools: deft_tools::Options,
    /// Settings of the engine, as far as they are set.
    pub engine: EngineConfig,
    /// References to secrets, by name.
    pub secrets: BTreeMap<String, String>,
    /// The channel for notices.
    pub notify: NotifyConfig,
    /// Models, in the order of their names.
    pub models: Vec<ModelConfig>,
    /// Settings of agents.
    pub agent: AgentOptions,
    /// Daily limits for models.
    pub budget: BudgetConfig,
    /// Whether messages to the bot are answered.
    pub telegram_chat: bool,
    /// The path of the database.
    pub store: StorePath,
    /// Retention of logs.
    pub logs: LogConfig,
    /// The HTTP API.
    pub server: ServerConfig,
    /// The export of traces and metrics.
    pub telemetry: TelemetryConfig,
    /// Webhooks that let other programs fire skills.
    pub hooks: Vec<HookConfig>,
    /// The home folder, the base of relative paths.
    pub home: PathBuf,
    /// All settings that were given, including those of future parts.
    pub settings: Settings,
}

/// The `[notify]` section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyConfig {
    /// The kind of channel.
    pub channel: Option<ChannelKind>,
    /// The chat or address.
    pub target: Option<String>,
    /// The tool's argument for the text, if the channel is a tool.
    pub text_argument: Option<String>,
    /// The tool's argument for the target, if the channel is a tool.
    pub target_argument: Option<String>,
    /// Minimum time in minutes between two notices about completions of one skill.
    pub interval_minutes: Option<u32>,
}

impl NotifyConfig {
    /// Returns the minimum time in minutes between two notices: the configured one, else that of the
    /// environment variable, else 0.
    pub fn least_minutes(&self) -> u32 {
        let given = || {
            let text = env::text(env::SKILL_NOTIFY_INTERVAL_MINUTES).ok()?;
            text.parse().ok()
        };
        self.interval_minutes.or_else(given).unwrap_or_default()
    }
}

/// The `[server]` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// Whether the daemon serves the API.
    pub enabled: bool,
    /// The host and port to listen on.
    pub listen: String,
    /// The certificate file.
    pub tls_cert: Option<PathBuf>,
    /// The file with the private key of the certificate.
    pub tls_key: Option<PathBuf>,
    /// Further host names of this machine.
    pub hosts: Vec<String>,
    /// Maximum time a client may take to send the head or the body of a request.
    pub request_timeout: Duration,
    /// Maximum number of open connections.
    pub max_connections: usize,
    /// Maximum number of reading requests per token and second.
    pub reads_per_second: u32,
    /// Maximum number of changing requests per token and second.
    pub changes_per_second: u32,
}

impl Config {
    /// Reads the file and the environment. A missing file counts as empty.
    pub fn read(path: &Path) -> Done<Self> {
        let settings = Settings::read(path)?;
        match settings.check().as_slice() {
            [] => {}
            [first] => return Err(first.failure(path)),
            [first, rest @ ..] => {
                let mut failure = first.failure(path);
                let count = rest.len();
                failure
                    .message
                    .push_str(&format!(" (and {count} more: `deft config validate`)"));
                return Err(failure);
            }
        }
        let home = path.parent().unwrap_or(Path::new(""));
        read::config(settings, home).map_err(|problem| problem.failure(path))
    }
}

impl Settings {
    /// Reads the file and the environment without checking the keys.
    pub fn read(path: &Path) -> Done<Self> {
        Self::read_checked(path)?.map_err(|problem| problem.failure(path))
    }

    /// Like [`Self::read`], but returns `Ok(Err(_))` if the file is not TOML; `Err` if it cannot be read.
    pub fn read_checked(path: &Path) -> Done<Result<Self, Problem>> {
        Ok(Self::parse(&text_of(path)?).map(|mut settings| {
            settings.overlay(env::overrides());
            settings
        }))
    }
}

/// Returns the kind of value that the key at `path` takes; `None` if it is not a key.
pub fn kind_of(path: &[String]) -> Option<Kind> {
    match table::kind_of_path(path) {
        table::PathKind::Leaf(key) => Some(key.kind),
        table::PathKind::Section | table::PathKind::Unknown => None,
    }
}

/// Reads the file; a missing file counts as empty.
fn text_of(path: &Path) -> Done<String> {
    match read_text(path, MAX_FILE_BYTES) {
        Ok(text) => Ok(text),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(problem) => Err(Failure::file(path, "read", &problem)),
    }
}
