//! Tests of the registry with real files.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod agents;
mod discovery;
mod links;
mod loading;
mod reload_log;
mod seeds;
mod support;
mod watching;
