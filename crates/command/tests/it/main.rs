//! Integration tests of commands.

#![allow(clippy::expect_used, reason = "helpers of tests may fail the test")]

mod cases;
mod helpers;
mod properties;
mod seeds;
mod show;
