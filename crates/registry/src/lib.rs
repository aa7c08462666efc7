//! Folders of skills and agents, loaded and followed live.
//!
//! A [`Snapshot`] is everything that is loaded at one instant: immutable and
//! shared. A [`Registry`] keeps one current while files change; readers never
//! lock. A broken edit leaves the last good revision in use and is reported.
//! [`discovery`] is what people and models are shown of it.
//!
//! This crate reads skill folders and writes nothing. It does not know what a
//! skill means (that is `skillfile`), runs nothing and keeps no history.

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
pub use digest::sha256;
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
