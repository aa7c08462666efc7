//! Integration tests of `deft-command`.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![allow(clippy::expect_used, reason = "helpers of tests may fail the test")]

mod cases;
mod helpers;
mod properties;
mod seeds;
mod show;
