//! Errors of a store.
//!
//! A variant describes what happened; [`Error::hint`] describes what a person can do about it. Not here:
//! whether to retry.

use std::fmt;
use std::path::PathBuf;

use deft_model::RunStatus;

/// A change of a file that a store has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// No file exists at its path.
    Deleted,
    /// Another file exists at its path.
    Replaced,
    /// Another program has written to it.
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

/// An error of a store. Nothing of the request was applied.
///
/// Errors are cloned when one failed commit is reported to every caller that shared it, so messages of the
/// database are stored as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Another owner drives the run, or the run has ended.
    #[error("the lease on run `{run}` is lost")]
    Fenced {
        /// The run.
        run: String,
    },

    /// The id is already in use.
    #[error("{what} with the id `{id}` already exists")]
    Taken {
        /// `a run` or `a question`.
        what: &'static str,
        /// The id.
        id: String,
    },

    /// The skill has changed since the caller read it.
    #[error("skill number {skill} was changed by another process in the meantime")]
    Changed {
        /// The number of the skill.
        skill: i64,
    },

    /// The run has not ended, so it cannot be reopened.
    #[error("run `{run}` has not ended; its status is {status}")]
    NotDone {
        /// The run.
        run: String,
        /// Its status.
        status: RunStatus,
    },

    /// A later version of deft has written the file.
    #[error(
        "the database `{}` has format {found}; this version of deft supports formats up to {known}",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The newest format that this version supports.
        known: i64,
    },

    /// The file is not a database.
    #[error("`{}` is not a database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },

    /// The database belongs to another program.
    #[error("the database `{}` belongs to another program", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },

    /// The file does not exist and cannot be created, or it cannot be opened.
    #[error("the database `{}` cannot be opened: {reason}", path.display())]
    NoAccess {
        /// The file.
        path: PathBuf,
        /// The message of the system.
        reason: String,
    },

    /// The file can be read but not written.
    #[error("the database `{}` is read-only", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },

    /// Another process held its lock for longer than the timeout.
    #[error("the database `{}` is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },

    /// The disk is full.
    #[error("disk full: cannot write the database `{}`", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },

    /// The open database is no longer the file at its path.
    #[error("the database `{}` was {change} while deft was using it", path.display())]
    FileChanged {
        /// The database or its log (WAL).
        path: PathBuf,
        /// The change.
        change: FileChange,
    },

    /// The disk or the system failed.
    #[error("reading or writing the database `{}` failed: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The message of the database.
        reason: String,
    },

    /// The file contains invalid data.
    #[error("the database `{}` is damaged: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The message of the database.
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
        /// The column, and why its value is invalid.
        reason: String,
    },

    /// A line to restore does not contain a deleted row.
    #[error("invalid line in the trash file: `{line}`")]
    UnreadableLine {
        /// The start of the line.
        line: String,
    },

    /// An error of the backend without its own variant.
    #[error("the store failed: {reason}")]
    Backend {
        /// The message of the backend.
        reason: String,
    },

    /// The store was closed before it could answer.
    #[error("the store is closed")]
    Closed,
}

impl Error {
    /// Returns what a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Fenced { .. }
            | Self::Taken { .. }
            | Self::Changed { .. }
            | Self::UnreadableLine { .. }
            | Self::Backend { .. }
            | Self::Closed => None,
            Self::NotDone { .. } => Some("wait until it ends, or cancel it first"),
            Self::Newer { .. } => Some(
                "install the newer version of deft, or use another home with `--home DIR`; nothing \
                 was changed",
            ),
            Self::NotADatabase { .. } | Self::NotOurs { .. } => {
                Some("move the file away, or set another path in `store.url`; nothing was changed")
            }
            Self::NoAccess { .. } => Some("check that the folder exists and belongs to you"),
            Self::ReadOnly { .. } => Some("allow writing to the file and to its folder"),
            Self::Locked { .. } => Some(
                "find the process that uses the file, such as a backup, and try again when it \
                     has finished",
            ),
            Self::Full { .. } => Some("free disk space and try again; stored data is intact"),
            Self::FileChanged { .. } => Some(
                "stop all deft processes of this home, put the database back from a backup, and \
                 start again; without a backup the next start creates an empty database",
            ),
            Self::Io { .. } => Some("check the disk; data stored earlier is intact"),
            Self::Damaged { .. } | Self::DamagedRow { .. } => {
                Some("keep a copy of the file and its `-wal`, then restore a backup")
            }
        }
    }

    /// Returns the error for a lease that is no longer valid.
    pub fn fenced_error(run: &deft_model::RunId) -> Self {
        Self::Fenced {
            run: run.to_string(),
        }
    }
}
