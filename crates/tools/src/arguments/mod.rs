//! Arguments on their way to a tool: repaired if a model wrote them, cast by
//! the tool's own schema, and checked before anything is sent.
//!
//! All of this is pure. Secrets are not known here: placeholders are passed
//! through and values are never part of a message.

mod check;
mod cost;
mod pipeline;
mod relax;
mod schema;

pub(crate) use check::Checker;
pub use pipeline::{Pipeline, Rule};
pub use relax::relax_schema_types;
