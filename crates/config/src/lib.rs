//! The home of deft on a machine: its folder, `config.toml`, secrets, time zone and environment variables.
//!
//! Settings become the options of the crates that own them. Not here: opening a store, printing, and starting
//! programs other than those that `host.rs` queries.

mod desktop;
pub mod env;
mod folders;
mod home;
mod host;
mod keyring;
mod literal_secret;
mod paths;
mod replace;
mod seal;
mod secret_store;
pub mod secrets;
mod settings;
mod sign_ins;
pub mod zone;

pub use desktop::{notifier, open_in_browser};
pub use folders::{
    EditLock, config_file, create_folder, ensure_home, is_open_to_others, lock_edits, make_private,
    replace_file, write_private,
};
pub use home::{Home, host_zone, system_moment};
pub use host::{ProgramOutput, find_program, run_program};
pub use literal_secret::is_literal_secret;
pub use paths::resolve;
pub use secret_store::{
    SecretPlace, StoredSecret, check_secret_name, remove_secret, secret_files, store_secret,
};
pub use secrets::Secrets;
pub use settings::{
    Allowance, BudgetConfig, ChannelKind, Config, Editor, EngineConfig, HookConfig, HookScheme,
    Kind, LogConfig, LogLimits, ModelConfig, NotifyConfig, Origin, Problem, ServerConfig, Setting,
    Settings, StorePath, TelemetryConfig, all_settings, bad_name, config_schema, find_settings,
    format_path, kind_of, literal, read_value, split_key,
};
pub use sign_ins::{SignInState, SignIns};
