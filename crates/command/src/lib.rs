//! Commands as models write them: `email.send --to bob@co.com --subject "Q1 Report"`.
//!
//! The way of a command: a reply is searched for `cmd` blocks ([`extract`]), a block is cut into
//! lines and words ([`split`]), a line becomes a [`Command`] ([`route`]), its flags are held
//! against the page ([`check`]) and cast by the schema of a tool ([`cast_by_schema`]). What comes
//! back is a [`CommandResult`]. The older JSON call takes the same way ([`from_json`]).
//!
//! Everything here takes values and returns values. Not here: which skills there are (the caller
//! looks names up), running anything, the code of built-in handlers, a clock (the start of the run
//! is passed in), and a shell: nothing that is written in a command is ever handed to one.

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
pub use validate::{apply_defaults, cast_date, cast_integer, require, validate_enum};
