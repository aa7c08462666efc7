//! Models behind one trait.
//!
//! A [`Models`] is told which models there are and is then asked for replies by name. It speaks the
//! wire of each provider, retries what is worth retrying, falls back to the next model, and says
//! what a reply cost.
//!
//! The four wires are written out here, over a plain HTTP client. The libraries that were tried mend
//! cut-off arguments, end a cut stream without a word, drop a choice of tools, or put keys into
//! addresses; this crate exists to do none of that. See `docs/models.md`.
//!
//! | module | what it does |
//! | --- | --- |
//! | `openai`, `anthropic`, `gemini`, `ollama` | one wire each: pure mappings, no I/O |
//! | `wire`, `exchange` | what all wires do, and which provider has which |
//! | `draft` | a reply in the making, from pieces of any wire |
//! | `failed` | what a failure of a provider means |
//! | `frames` | bytes of a stream into events |
//! | `http` | the only file with a socket |
//! | `listing` | which models a provider has |
//! | `models`, `tries`, `wait` | names, limits, retries, fallbacks |
//!
//! Not here: the loop of an agent, which tools there are and what they do, budgets, a store, the
//! configuration file, and any mending of what a model wrote.

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
pub use models::{Answer, Ask, Models};
pub use options::{ModelOptions, ProviderKind};
pub use price::Price;
pub use provider::{Delta, Pong, Provider, Reply, ReplyListener};
pub use provider_failure::{Overflow, ProviderFailure};
pub use wire::WireRequest;
