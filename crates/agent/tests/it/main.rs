//! The agent as a value, from outside: case files, properties of generated agents, prompts.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy does not see that helpers of tests are tests"
)]

mod assemble;
mod cases;
mod classify;
mod drive;
mod injection;
mod properties;
mod script;
mod show;
mod specs;
mod world;
