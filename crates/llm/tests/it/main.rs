//! Integration tests of models, against doubles and a real server.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![allow(clippy::expect_used, reason = "what fails here is a test that fails")]

mod calls;
mod cases;
mod real_model;
mod scripted;
mod support;
mod tries;
mod trouble;
