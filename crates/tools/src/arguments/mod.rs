//! The preparation of arguments for a tool: repairs if a model wrote them, the primary chat, casts by
//! the tool's schema, and the check before anything is sent. `prepare.rs` runs all steps.
//!
//! Pure functions between values; no I/O. Not here: secrets. Placeholders are passed through, and
//! values are never part of a message.

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
