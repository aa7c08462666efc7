//! The shapes of deft that are visible from outside: what commands print as JSON, and what servers
//! will answer. They are typed, and nothing else builds public JSON.
//!
//! Not here: how a shape is filled (the crate that knows the value: `workflow`, `engine` or
//! `service`), and how it is printed (a front end).

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
