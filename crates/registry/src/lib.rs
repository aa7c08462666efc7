//! Loading and watching of folders with skills and agents.
//!
//! A [`Snapshot`] contains everything loaded at one instant; it is immutable and shared. A [`Registry`] keeps
//! a current snapshot while files change; readers never lock. After a broken edit the last valid revision
//! stays in use, and the problem is reported. [`discovery`] presents skills to people and models.
//!
//! This crate reads folders of skills and writes nothing. Not here: the meaning of skill files (`skillfile`),
//! running skills, and history.

mod agents;
mod change;
mod change_log;
mod digest;
pub mod discovery;
mod domain;
#[cfg(test)]
mod equivalence_tests;
mod file;
mod list;
mod live;
mod load;
mod options;
mod report;
mod scan;
mod shared;
mod siblings;
mod snapshot;
mod stamp;
mod survey;
mod territory;
mod tree;
mod unit;
mod walk;
mod watch;

pub use change::{Change, changes};
pub use domain::Domain;
pub use file::{open_regular, read_regular, read_text};
pub use live::Registry;
pub use load::refusal;
pub use options::{MAX_FILE_BYTES, Options, Watch};
pub use report::{FileReport, State};
pub use shared::WatchMode;
pub use snapshot::Snapshot;
pub use unit::{LoadedAgent, LoadedSkill};
pub use walk::skill_mds;
pub use watch::can_watch;
