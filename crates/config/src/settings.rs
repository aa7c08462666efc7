//! `config.toml` and the variables that count more.
//!
//! Text becomes a tree in which every value knows its origin (`tree`), the tree
//! is held against the one table of keys (`table`, `kind`, `check`), and typed
//! settings are read out of it (`read`). `edit` changes the file and keeps its
//! comments; `list`, `schema` and `reference` show what there is.
//!
//! Not here: what the settings do, secrets themselves (the file has references
//! only), and anything that prints.

mod channel;
mod check;
mod edit;
mod engine;
mod hook;
mod kind;
mod lenient;
mod list;
mod logs;
mod mind;
mod problem;
mod read;
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
pub use check::{bad_name, shown};
pub use edit::{Editor, literal};
pub use engine::EngineConfig;
pub use hook::{HookConfig, HookScheme};
pub use kind::Kind;
pub use list::{Setting, all as all_settings, find as find_settings, split as split_key};
pub use logs::{LogConfig, LogLimits};
pub use mind::{Allowance, BudgetConfig, ModelConfig};
pub use problem::Problem;
pub use schema::schema as config_schema;
pub use store::StorePath;
pub use telemetry::TelemetryConfig;
pub use tree::{Origin, Settings, read_value};

use crate::env;
use deft_wire::{Done, Failure};

/// What the configuration says.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folders of skills besides the home's own.
    pub skill_paths: Vec<String>,
    /// The zone of times that name none.
    pub zone: Option<TimeZone>,
    /// Servers, and limits of the built-in tools.
    pub tools: deft_tools::Options,
    /// How the engine behaves, as far as the file says.
    pub engine: EngineConfig,
    /// Secrets by name: where each is.
    pub secrets: BTreeMap<String, String>,
    /// Where notices go.
    pub notify: NotifyConfig,
    /// Models, in the order of their names.
    pub models: Vec<ModelConfig>,
    /// How agents behave.
    pub agent: AgentOptions,
    /// What models may use in a day.
    pub budget: BudgetConfig,
    /// Whether messages to the bot are answered.
    pub telegram_chat: bool,
    /// Where the database is.
    pub store: StorePath,
    /// How much is kept of logs.
    pub logs: LogConfig,
    /// The API over HTTP.
    pub server: ServerConfig,
    /// Where traces and metrics go.
    pub telemetry: TelemetryConfig,
    /// Deliveries of other programs that fire skills.
    pub hooks: Vec<HookConfig>,
    /// The folder that paths are seen from.
    pub home: PathBuf,
    /// Everything that was given, also the sections of parts to come.
    pub settings: Settings,
}

/// The `[notify]` section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotifyConfig {
    /// The way to people.
    pub channel: Option<ChannelKind>,
    /// The chat or address.
    pub target: Option<String>,
    /// What takes the text, where a tool is the way.
    pub text_argument: Option<String>,
    /// What takes the target, where a tool is the way.
    pub target_argument: Option<String>,
    /// The least time between two notices about completions of one skill.
    pub interval_minutes: Option<u32>,
}

impl NotifyConfig {
    /// The least time in minutes between two notices: the configuration's, or that of the variable of the seeds.
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
    /// Whether a daemon serves the API at all.
    pub enabled: bool,
    /// The host and the port.
    pub listen: String,
    /// The file with the certificate.
    pub tls_cert: Option<PathBuf>,
    /// The file with its private key.
    pub tls_key: Option<PathBuf>,
    /// Further names of this machine.
    pub hosts: Vec<String>,
    /// The longest that a client may take to send the head or the body of a request.
    pub request_timeout: Duration,
    /// The most connections at once.
    pub max_connections: usize,
    /// The most reading requests of a token within a second.
    pub reads_per_second: u32,
    /// The most changing requests of a token within a second.
    pub changes_per_second: u32,
}

impl Config {
    /// Reads a file and the environment; no file at all is an empty one.
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
    /// Reads a file and the environment, and checks no key.
    pub fn read(path: &Path) -> Done<Self> {
        Self::read_checked(path)?.map_err(|problem| problem.failure(path))
    }

    /// The same, with a file that is not TOML told apart from one that cannot
    /// be read at all.
    pub fn read_checked(path: &Path) -> Done<Result<Self, Problem>> {
        Ok(Self::parse(&text_of(path)?).map(|mut settings| {
            settings.overlay(env::overrides());
            settings
        }))
    }
}

/// What a key takes, if there is such a key.
pub fn kind_of(path: &[String]) -> Option<Kind> {
    match table::meaning(path) {
        table::Meaning::Leaf(key) => Some(key.kind),
        table::Meaning::Section | table::Meaning::Unknown => None,
    }
}

/// The text of the file; empty if there is none.
fn text_of(path: &Path) -> Done<String> {
    match read_text(path, MAX_FILE_BYTES) {
        Ok(text) => Ok(text),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(problem) => Err(Failure::file(path, "read", &problem)),
    }
}
