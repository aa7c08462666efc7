//! Integration tests of the agent: case files, properties of generated agents, prompts.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
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
