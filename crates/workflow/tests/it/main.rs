//! Integration tests: snapshots of case files, and properties of generated runs.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy does not see that helpers of tests are tests"
)]

mod cases;
mod drive;
mod dry;
mod generate;
mod limits;
mod properties;
mod script;
mod show;
mod world;
