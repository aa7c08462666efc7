//! Errors of a store.
//!
//! Variants say what happened to whom; what a person can do about it is apart, in [`Error::hint`].
//! Nothing here decides whether to try again.

use std::fmt;
use std::path::PathBuf;

use deft_model::RunStatus;

/// What happened to a file that a store has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Nothing is at its path.
    Deleted,
    /// Another file is at its path.
    Replaced,
    /// Another program has written into it.
    Overwritten,
}

impl fmt::Display for FileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deleted => "deleted",
            Self::Replaced => "replaced by another file",
            Self::Overwritten => "overwritten by another program",
        })
    }
}

/// A store could not do what it was asked. Nothing of the request was applied.
///
/// An error is cloned when one failed commit is reported to every caller that shared it, so the message
/// of the database is stored as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another owner drives the run now, or the run is over.
    #[error("the lease on run `{run}` is lost")]
    Fenced {
        /// The run.
        run: String,
    },

    /// Something else was stored under this name.
    #[error("there is already {what} with the id `{id}`")]
    Taken {
        /// `a run` or `a question`.
        what: &'static str,
        /// The name.
        id: String,
    },

    /// What was decided rests on a skill that has changed since.
    #[error("the skill `{skill}` was changed at the same time")]
    Changed {
        /// The number of the skill.
        skill: i64,
    },

    /// Only a run that is over can be made due again.
    #[error("run `{run}` is not over, it is {status}")]
    NotDone {
        /// The run.
        run: String,
        /// Where it stands.
        status: RunStatus,
    },

    /// A later version of deft has been here.
    #[error(
        "the database `{}` has format {found}, this deft knows formats up to {known}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest known one.
        known: i64,
    },

    /// The file holds something else.
    #[error("`{}` is not a database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },

    /// The database belongs to another program.
    #[error("the database `{}` was not made by deft", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },

    /// The file is not there and cannot be made, or may not be opened.
    #[error("the database `{}` cannot be opened: {reason}", path.display())]
    NoAccess {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },

    /// The file can be read and not written.
    #[error("the database `{}` is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },

    /// Another process kept the database to itself for too long.
    #[error("the database `{}` is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },

    /// There is no room left.
    #[error("no room left to write the database `{}`", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },

    /// The open database is not the file at its path any more.
    #[error("the database `{}` was {change} while deft was using it", path.display())]
    FileChanged {
        /// The database or its log.
        path: PathBuf,
        /// What happened to it.
        change: FileChange,
    },

    /// The disk or the system failed.
    #[error("reading or writing the database `{}` failed: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the database said.
        reason: String,
    },

    /// What was read makes no sense.
    #[error("the database `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the database said.
        reason: String,
    },

    /// A row has a value that deft never writes.
    #[error("the database `{}` is damaged: row `{key}` of table `{table}`: {reason}", path.display())]
    DamagedRow {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// The key of the row.
        key: String,
        /// The column, and what is wrong with its value.
        reason: String,
    },

    /// A line that should bring a deleted row back does not say which.
    #[error("no deleted row: `{line}`")]
    UnreadableLine {
        /// How it begins.
        line: String,
    },

    /// The backend refused for a reason that has no variant of its own.
    #[error("the store failed: {reason}")]
    Backend {
        /// What it said.
        reason: String,
    },

    /// The store was shut before it could answer.
    #[error("the store is closed")]
    Closed,
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Fenced { .. }
            | Self::Taken { .. }
            | Self::Changed { .. }
            | Self::UnreadableLine { .. }
            | Self::Backend { .. }
            | Self::Closed => None,
            Self::NotDone { .. } => Some("wait for it to end, or cancel it first"),
            Self::Newer { .. } => Some(
                "install the newer deft again, or start with another home; nothing was changed",
            ),
            Self::NotADatabase { .. } | Self::NotOurs { .. } => {
                Some("move the file away or choose another place; nothing was changed")
            }
            Self::NoAccess { .. } => Some("check that the folder is there and belongs to you"),
            Self::ReadOnly { .. } => Some("allow writing to the file and to its folder"),
            Self::Locked { .. } => {
                Some("find who uses the file, a backup perhaps, and try again when it is done")
            }
            Self::Full { .. } => {
                Some("make room on the disk and try again; what was stored is still there")
            }
            Self::FileChanged { .. } => Some(
                "stop all deft processes of this home, put the database back from a backup, and \
                 start again; without a backup the next start begins with an empty one",
            ),
            Self::Io { .. } => Some("check the disk; what was stored before is not touched"),
            Self::Damaged { .. } | Self::DamagedRow { .. } => {
                Some("keep a copy of the file and its `-wal`, then restore a backup")
            }
        }
    }

    /// The lease on the run is not valid any more.
    pub fn fenced(run: &deft_model::RunId) -> Self {
        Self::Fenced {
            run: run.to_string(),
        }
    }
}
