//! Everything that a front end may ask deft for. The command line, the servers and the dashboard know this
//! crate, `wire` and `config`, and nothing deeper.
//!
//! Not here: arguments, terminals, HTTP and anything that prints.

pub mod app;
pub mod approvals;
pub mod ask;
pub mod audit;
pub mod budget;
pub mod commands;
pub mod daemon;
pub mod demo;
pub mod doctor;
pub mod doorbell;
mod health;
mod ids;
pub mod jobs;
mod kept_skills;
pub mod library;
pub mod listener;
mod lock;
pub mod logging;
pub mod logs;
pub mod memory;
pub mod notices;
pub mod offers;
pub mod remind;
mod router;
pub mod runs;
pub mod runtime;
pub mod schedule;
pub mod schemas;
pub mod secrets;
pub mod seed;
pub mod servers;
pub mod settings;
pub mod setup;
mod shape;
pub mod skills;
pub mod status;
mod store;
pub mod talk;
mod telegram;
pub mod tick;
pub mod time;
pub mod tokens;
pub mod tools;
pub mod trash;
pub mod words;
mod workspace;

pub use app::{App, worker_main};
pub use deft_channels::markdown;
pub use library::Library;
pub use lock::Lock;
pub use workspace::Workspace;
