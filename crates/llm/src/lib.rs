//! Models behind one trait.
//!
//! A [`Models`] is told which models there are and is then asked for replies by name. It speaks the
//! wire of each provider, retries what is worth retrying, falls back to the next model, and says
//! what a reply cost.
//!
//! Not here: the loop of an agent, which tools there are and what they do, budgets, a store, the
//! configuration file, and any mending of what a model wrote.

mod models;
mod options;
mod provider;

pub use models::{Answer, Ask, Models};
pub use options::{ModelOptions, Price, ProviderKind};
pub use provider::{Delta, Heard, Provider, Reply};
