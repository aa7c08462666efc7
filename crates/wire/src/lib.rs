//! Types of all public JSON: the output of commands and the requests and responses of servers. Public JSON is
//! built only from these types.
//!
//! Not here: filling these types (done by the crate that has the data: `workflow`, `engine` or `service`) and
//! printing them (front ends).

pub mod api;
pub mod approval;
pub mod budget;
pub mod chat;
pub mod check;
pub mod command;
pub mod demo;
pub mod diagnostic;
pub mod dry_run;
pub mod event;
mod event_schema;
pub mod fact;
mod failure;
pub mod home;
pub mod hook;
pub mod host;
pub mod interruption;
pub mod job;
pub mod listener;
pub mod log;
pub mod mcp;
pub mod model;
pub mod notice;
pub mod own_tools;
pub mod problem;
pub mod remote_skill;
pub mod requests;
pub mod run;
pub mod sarif;
pub mod schedule;
mod schema;
pub mod secret;
pub mod server;
pub mod setting;
pub mod setup;
pub mod skill;
pub mod skill_body;
pub mod skill_details;
pub mod skill_files;
pub mod skill_policy;
pub mod stats;
pub mod status;
pub mod token;
pub mod tool;
pub mod trash;
pub mod words;

pub use event_schema::event_schema;
pub use failure::{Done, Failure, FailureBody, FailureDocument, FailureKind};
