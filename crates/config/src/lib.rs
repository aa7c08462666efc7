//! The home of deft on a machine: where it is, what its `config.toml` says, its secrets, its time zone
//! and the environment variables that deft reads.
//!
//! Settings become the options of the crates that own them. Not here: opening a store, starting
//! anything, and printing.

pub mod env;
mod home;
pub mod secrets;
mod settings;
pub mod zone;

pub use home::{Home, config_file, create_folder, ensure_home, system_moment};
pub use secrets::Secrets;
pub use settings::{
    Allowance, BudgetConfig, ChannelKind, Config, Editor, EngineConfig, Kind, LogConfig, LogLimits,
    ModelConfig, NotifyConfig, Origin, Problem, Setting, Settings, StorePath, all_settings,
    bad_name, config_schema, find_settings, kind_of, literal, read_value, resolve, shown,
    split_key,
};
