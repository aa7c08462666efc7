//! The first setup: prepares a home, detects what the machine has (`discover`, over a `Machine` that tests
//! replace), and connects it: a model, skills, MCP servers, a service.
//!
//! Each part is idempotent. Not here: questions to the user.

mod connect;
mod discover;
mod home;
mod hosts;
mod machine;
mod model;
mod providers;
mod skills;
#[cfg(test)]
mod tests;
mod unit;

pub use connect::{configure, configured_model, key_variable, store_key, test_model};
pub use discover::{ModelSearch, discover};
pub use home::{prepare_home, protect_config};
pub use machine::Machine;
pub use model::{
    ModelCandidate, ModelChoice, ModelPreferences, candidates, choose, choose_with_key,
    provider_without_key,
};
pub use providers::{KEY_PROVIDERS, KeyProvider};
pub use skills::{add_skills, import_crontab, import_servers, new_servers, new_skills};
pub use unit::{find_unit, start_unit, write_unit};
