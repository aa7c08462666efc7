//! Tests of the router with well-behaved and faulty servers.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod builtin;
mod calls;
mod chats;
mod docs;
mod hostile;
mod http;
mod life;
mod listings;
mod misbehave;
mod public;
mod runaway;
mod shell;
mod sign_in;
mod skills;
mod support;
mod telegram;
mod trouble;
mod webhook;
