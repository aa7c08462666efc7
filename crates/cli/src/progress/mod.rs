//! How a run goes, for a person who watches: a tree that is redrawn on a terminal, plain lines
//! anywhere else.
//!
//! Everything shown comes from published events; nothing here asks the engine anything.

mod screen;
mod tree;

pub(crate) use screen::{Above, Screen, say_above, say_in_log, say_through};
pub(crate) use tree::{Tree, duration};
