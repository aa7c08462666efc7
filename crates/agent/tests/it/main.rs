//! Integration tests: snapshots of case files, and properties of generated agents.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy does not see that helpers of tests are tests"
)]

mod cases;
mod drive;
mod properties;
mod script;
mod show;
mod world;
