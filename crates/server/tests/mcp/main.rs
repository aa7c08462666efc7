//! The MCP service over HTTP on a bare listener, judged by the MCP conformance suite; and in this process,
//! where a test can control the clock.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod conformance;
mod parked;
mod sessions;
mod test_server;
