//! The tool router: one name space over MCP servers and built-in tools.
//!
//! A [`Router`] is configured with servers and calls tools by name. It starts servers when they are
//! first needed, checks arguments against the tool's schema, inserts secrets right before sending, and
//! turns the response into a value or a classified [`Failure`](deft_model::Failure).
//!
//! Not here: retries, healing, budgets and approvals (the engine decides those from the failure's
//! class), a store (catalogs are passed out and in), the configuration file, and any printing.

mod address;
mod arguments;
mod breaker;
mod builtin;
mod call;
mod catalog;
mod classify;
mod delivery;
pub mod desktop;
mod environment;
mod health;
mod index;
mod limit;
mod options;
mod process;
mod redact;
mod relay;
mod remote_skill;
mod reply;
mod router;
mod secret;
mod server;
mod sign_in;
pub mod telegram;
mod tool;
mod transport;
pub mod webhook;

pub use arguments::relax_schema_types;
pub use builtin::{Context, Definition, Handler, SecretUse, ToolLocality};
pub use call::{Call, Reply};
pub use catalog::{Catalog, Era};
pub use delivery::SendError;
pub use environment::{Environment, HostZone, Level, LogLine, Notice, Notices};
pub use health::{Health, Probe, ServerState};
pub use index::ToolLookup;
pub use options::{
    FileOptions, Grant, HttpOptions, OAuthOptions, Options, Pipeline, Reexport, Rule,
    ServerOptions, ShellOptions, TelegramOptions,
};
pub use redact::Redaction;
pub use relay::{
    Clash, ExportedItem, Exports, News, Offers, OwnNames, RelayCall, RelayClient, RelayError,
    RelayEvent, RelayMessage, RelayRequest, legal_name,
};
pub use remote_skill::{
    RefusedSkill, RemoteFile, RemoteFiles, RemoteSkill, SkillListing, split_skill_id,
};
pub use router::{PendingSignIn, Router};
pub use secret::{Plain, Reference, Reveal, Secret, SecretSource, look_up_secret};
pub use sign_in::{CredentialVault, Credentials, MemoryVault};
pub use tool::{Annotations, BUILTIN_SERVER, DisabledTool, ToolInfo, first_sentence};
