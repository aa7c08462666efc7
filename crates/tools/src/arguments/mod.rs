//! Arguments on their way to a tool: repaired if a model wrote them, given the
//! primary chat, cast by the tool's own schema, and checked before anything is
//! sent. `prepare.rs` is the way of all of them.
//!
//! All of this is pure. Secrets are not known here: placeholders are passed
//! through and values are never part of a message.

mod chat;
mod check;
mod cost;
mod pipeline;
mod prepare;
mod relax;
mod schema;

pub(crate) use check::Checker;
pub(crate) use prepare::Preparation;
pub use relax::relax_schema_types;
