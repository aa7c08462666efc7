//! Tests of the skill file parser against case files and external references.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test names the variants it is about, and fails on all others"
)]
#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod against;
mod cases;
mod corpus;
mod dump;
mod properties;
mod reference;
mod roundtrip;
mod schemas;
mod strategies;
mod support;
