//! The shapes of deft that are visible from outside: what commands print as JSON, and what servers
//! will answer. They are typed, and nothing else builds public JSON.
//!
//! Not here: how a shape is filled (`service`), and how it is printed (a front end).

mod failure;

pub use failure::{Done, Failure, FailureBody, FailureDocument, FailureKind};
