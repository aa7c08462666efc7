//! The router as an MCP client, judged by `@modelcontextprotocol/conformance`.
//!
//! The suite starts a server per scenario and then a program that has to use it. That program is this
//! test itself (`driver.rs`), built on the router, so the suite judges deft's behaviour as a client.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the suite talks to its driver by variables, and keeps what it prints"
)]

mod driver;
mod relayed;
mod suite;
