//! The API of a running `deft up`, over real sockets.

mod access;
mod agreement;
mod chats;
pub(crate) mod client;
mod feed;
mod feed_filters;
mod health;
mod home;
mod hooks;
mod hooks_by_hand;
mod hooks_test;
mod hostile;
mod hostile_feed;
mod hostile_requests;
mod lasting;
mod leaks;
mod leaks_mcp;
mod mcp_http;
mod mcp_streams;
mod pages;
mod rate;
mod referee;
mod remote_skills;
mod request_ids;
mod routes;
mod scopes;
mod sign_in;
mod snippet;
pub(crate) mod socket;
mod socket_access;
mod spending;
mod tls;
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

/// Writes a log line, with an input.
const NOTE: &str = "\
name: note
description: Writes a line
inputs:
  - {name: text, type: string, required: true}
steps:
  - {id: say, tool: log, args: {message: \"{{ inputs.text }}\"}}
outputs:
  said: \"{{ inputs.text }}\"
";
