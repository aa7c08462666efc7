//! Commands as models write them: `email.send --to bob@co.com --subject "Q1 Report"`.
//!
//! Stages: a reply is searched for `cmd` blocks ([`extract`]), a block is split into lines and words
//! ([`split`]), a line becomes a [`Command`] ([`route`]), its flags are checked against the man page
//! ([`check`]) and cast by the schema of a tool ([`cast_by_schema`]). The output is a
//! [`CommandResult`]. The older JSON call passes through the same stages ([`from_json`]).
//!
//! Pure functions between values; no I/O. Not here: the list of skills (the caller looks names up),
//! running anything, the code of built-in handlers, a clock (the start of the run is an argument), and
//! a shell: no part of a command is ever passed to one.

mod check;
mod extract;
mod flags;
mod handler;
mod json;
mod placeholders;
mod problem;
mod quote;
mod result;
mod route;
mod schema;
mod sentence;
mod split;
mod validate;

pub use check::check;
pub use extract::{Block, Extraction, extract};
pub use flags::parse_flags;
pub use handler::reads_only;
pub use json::from_json;
pub use placeholders::{fill, fill_flags, fill_page};
pub use problem::{Problem, ProblemKind, StrayReason};
pub use quote::{join, quote};
pub use result::{CommandResult, CommandStatus};
pub use route::{Command, Route, route};
pub use schema::cast_by_schema;
pub use split::{Line, Word, split};
pub use validate::{apply_defaults, require, validate_enum};
