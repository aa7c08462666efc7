//! The agent as a value, from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod assemble;
mod classify;
mod injection;
mod specs;
