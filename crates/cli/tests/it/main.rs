//! The binary as a stranger would use it: exit code, stdout and stderr.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod cmd;
mod config;
mod files;
mod home;
mod keeping;
mod mcp;
mod runs;
mod schedule;
mod support;
mod terminal;
mod tools;
mod validate;
mod watch;
