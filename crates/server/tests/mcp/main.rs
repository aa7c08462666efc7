//! The MCP service over HTTP, on a bare listener, judged by the conformance suite of MCP.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail the test")]

mod conformance;
mod sessions;
mod test_server;
