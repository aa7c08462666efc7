//! The conformance suite over all backends, and tests of the file backend.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod budgets;
mod conformance;
mod damage;
mod file;
mod identity;
mod model;
mod sharing;
mod support;
mod trash;
mod trouble;
