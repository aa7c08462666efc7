//! deft as an MCP server, over stdio and over streamable HTTP.
//!
//! One handler speaks every revision from 2024-11-05 to 2026-07-28. It offers deft's own tools, skills as tools,
//! prompts, resources and folders of files, control over runs and questions, long runs as tasks, and what servers
//! behind deft offer. Not here: what any of it does,
//! which is in `service`, and the shapes of results, which are in `wire`.

mod approval;
mod audit;
mod call;
mod catalog;
mod changes;
mod complete;
mod elicit;
mod handler;
mod http;
mod page;
mod prompts;
mod relay;
mod reply;
mod resources;
mod run;
#[cfg(test)]
mod schema_tests;
mod schemas;
mod skills;
mod stdio;
mod tasks;

pub use audit::AuditTrail;
pub use handler::McpServer;
pub use http::{McpService, service};
pub use stdio::serve_stdio;
