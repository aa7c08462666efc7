//! The home of deft on a machine: where it is, what its `config.toml` says, its secrets, its time zone
//! and the environment variables that deft reads.
//!
//! Settings become the options of the crates that own them. Not here: opening a store, starting
//! anything, and printing.

mod desktop;
pub mod env;
mod folders;
mod home;
mod literal_secret;
mod paths;
pub mod secrets;
mod settings;
pub mod zone;

pub use desktop::notifier;
pub use folders::{config_file, create_folder, ensure_home};
pub use home::{Home, host_zone, system_moment};
pub use literal_secret::is_literal_secret;
pub use paths::resolve;
pub use secrets::Secrets;
pub use settings::{
    Allowance, BudgetConfig, ChannelKind, Config, Editor, EngineConfig, Kind, LogConfig, LogLimits,
    ModelConfig, NotifyConfig, Origin, Problem, Setting, Settings, StorePath, all_settings,
    bad_name, config_schema, find_settings, kind_of, literal, read_value, shown, split_key,
};
