//! deft as an MCP server, over stdio and over streamable HTTP.
//!
//! One handler implements all revisions from 2024-11-05 to 2026-07-28. It provides deft's own tools, skills
//! as tools, prompts, resources and folders of files, control over runs and approvals, long runs as tasks,
//! and the items of servers behind deft. Not here: the operations themselves (`service`) and the types of
//! results (`wire`).

mod approval;
mod audit;
mod call;
mod catalog;
mod changes;
mod complete;
mod directories;
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
mod sessions;
mod skills;
mod stdio;
mod tasks;
mod threads;

pub use audit::AuditTrail;
pub use handler::McpServer;
pub use http::{McpService, service};
pub use stdio::serve_stdio;
