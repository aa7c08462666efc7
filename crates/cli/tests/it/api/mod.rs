//! The API of a running `deft up`, over real sockets.

mod access;
mod client;
mod feed;
mod routes;
mod tokens;

/// Asks before its only step.
const ASKING: &str = "\
name: asking
description: Asks first
steps:
  - {id: say, tool: log, args: {message: done}}
confirmations:
  - {step: say, message: \"Go on?\"}
";
