//! Live progress of a run: a tree redrawn in place on a terminal, plain lines elsewhere.
//!
//! Everything shown comes from published events; this module does not query the engine.

mod screen;
mod tree;

pub(crate) use screen::{MessageSink, Screen, route_messages, say_above, say_in_log};
pub(crate) use tree::{Tree, duration};
