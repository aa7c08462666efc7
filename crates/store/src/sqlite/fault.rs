//! Translation of `SQLite` errors to [`Error`].

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::damage::DamagedValue;
use crate::Error;

/// An error inside a transaction.
///
/// `SQLite` errors are translated later, where the path of the file is known.
pub(super) enum Fault {
    Store(Error),
    Sql(rusqlite::Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    pub(super) fn into_error(self, path: &Path) -> Error {
        match self {
            Self::Store(error) => error,
            Self::Sql(error) => translate(&error, path),
        }
    }
}

/// Whether another connection is writing.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

/// Whether a unique index refused a row.
pub(super) fn is_conflict(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

pub(super) fn translate(error: &rusqlite::Error, path: &Path) -> Error {
    let path = path.to_path_buf();
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked { path },
        Some(ErrorCode::DiskFull) => Error::Full { path },
        Some(ErrorCode::ReadOnly) => Error::ReadOnly { path },
        Some(ErrorCode::NotADatabase) => Error::NotADatabase { path },
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            Error::NoAccess { path, reason }
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed) => {
            Error::Io { path, reason }
        }
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, reason },
        Some(_) => Error::Backend { reason },
        None => unreadable(error, reason, path),
    }
}

/// Translates errors without a code of `SQLite`. deft never writes a value that does not fit its column, so
/// these values are damaged.
fn unreadable(error: &rusqlite::Error, reason: String, path: PathBuf) -> Error {
    if let rusqlite::Error::FromSqlConversionFailure(_, _, cause) = error
        && let Some(value) = cause.downcast_ref::<DamagedValue>()
    {
        let DamagedValue { table, key, reason } = value.clone();
        return Error::DamagedRow {
            path,
            table,
            key,
            reason,
        };
    }
    if matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::InvalidColumnType(..)
    ) {
        return Error::Damaged { path, reason };
    }
    Error::Backend { reason }
}
