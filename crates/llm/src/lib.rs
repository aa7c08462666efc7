//! Language models behind one trait.
//!
//! A [`Models`] holds the configured models and is asked for replies by name. It speaks the wire format of
//! each provider, retries transient failures, falls back to the next model, and reports the cost of a reply.
//!
//! The four wire formats are implemented here, on top of a plain HTTP client. The libraries that were tried
//! repair cut-off arguments, end a cut-off stream without an error, drop the choice of tools, or put keys
//! into addresses; this crate exists to do none of that. See `docs/models.md`.
//!
//! | module | purpose |
//! | --- | --- |
//! | `openai`, `anthropic`, `gemini`, `ollama` | one wire format each: pure mappings, no I/O |
//! | `wire`, `exchange` | what all wire formats do, and which provider has which |
//! | `draft` | a reply under construction, from pieces of any wire format |
//! | `provider_failure` | the meaning of a provider's failure |
//! | `frames` | bytes of a stream into events |
//! | `http` | the only file with a socket |
//! | `listing` | the models of a provider |
//! | `models`, `tries`, `wait` | names, limits, retries, fallbacks |
//!
//! Not here: the loop of an agent, which tools exist and what they do, budgets, storage, the configuration
//! file, and any repair of what a model wrote.

mod address;
mod anthropic;
mod draft;
pub mod exchange;
mod frames;
mod gemini;
mod head;
mod http;
mod listing;
mod models;
mod ollama;
mod openai;
mod options;
mod price;
mod provider;
mod provider_failure;
mod tries;
mod unready;
mod wait;
mod wire;

pub use head::Head;
pub use listing::{ProviderPlace, list_models};
pub use models::{Answer, Ask, Models, remove_model_name};
pub use options::{ModelOptions, ProviderKind};
pub use price::Price;
pub use provider::{Delta, Pong, Provider, Reply, ReplyListener};
pub use provider_failure::{Overflow, ProviderFailure};
pub use wire::WireRequest;
