//! Opens the store of a home, and converts its errors.

use std::sync::Arc;

use deft_config::{Home, create_folder};
use deft_store::{Sqlite, SqliteOptions, Store};
use deft_wire::{Done, Failure};

/// Opens the store of a home, and creates it if it does not exist.
pub(crate) fn open(home: &Home) -> Done<Arc<dyn Store>> {
    home.ensure()?;
    let path = home.store_path()?;
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let store = Sqlite::open(&path, &SqliteOptions::default()).map_err(|error| failure(&error))?;
    Ok(Arc::new(store))
}

/// Opens the store of a home for commands that only read: no file is created. If the home has no store, it is
/// empty.
pub(crate) fn read(home: &Home) -> Done<Arc<dyn Store>> {
    use deft_store::Error;
    let path = &home.config.store.path;
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) => {
            let empty = Sqlite::open_empty(path, &SqliteOptions::default());
            return Ok(Arc::new(empty.map_err(|error| failure(&error))?));
        }
        Err(problem) => return Err(Failure::file(path, "open", &problem)),
    }
    let options = SqliteOptions::default();
    let opened = Sqlite::open(path, &options).or_else(|error| {
        // On a full disk no file can be created beside the database, but its content can still be read.
        let may_be_read = matches!(
            error,
            Error::ReadOnly { .. } | Error::NoAccess { .. } | Error::Full { .. } | Error::Io { .. }
        );
        if !may_be_read {
            return Err(error);
        }
        Sqlite::open_read_only(path, &options).map_err(|_| error)
    });
    Ok(Arc::new(opened.map_err(|error| failure(&error))?))
}

/// The code of failures of the store.
const FAILURE_CODE: &str = "store";

/// Whether the store failed, so that the same request may succeed later.
pub(crate) fn is_failure(failure: &Failure) -> bool {
    failure.code == FAILURE_CODE
}

/// Converts an error of the store for front ends.
pub(crate) fn failure(error: &deft_store::Error) -> Failure {
    use deft_store::Error;
    let new = match error {
        // Another request was faster, or the file or the disk needs a person.
        Error::Fenced { .. }
        | Error::Taken { .. }
        | Error::Changed { .. }
        | Error::NotDone { .. }
        | Error::Newer { .. }
        | Error::NotADatabase { .. }
        | Error::NotOurs { .. }
        | Error::NoAccess { .. }
        | Error::ReadOnly { .. }
        | Error::Locked { .. }
        | Error::Full { .. }
        | Error::FileChanged { .. }
        | Error::Io { .. } => Failure::input,
        // Data that deft stored cannot be used any more, or the database failed.
        Error::Damaged { .. }
        | Error::DamagedRow { .. }
        | Error::UnreadableLine { .. }
        | Error::Backend { .. }
        | Error::Closed => Failure::internal,
    };
    new(FAILURE_CODE, error.to_string()).maybe_hint(error.hint().map(Into::into))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use deft_store::{Error, FileChange};
    use deft_wire::FailureKind;

    use super::*;

    #[test]
    fn store_errors_have_the_class_of_their_cause() {
        let path = PathBuf::from("deft.db");
        let reason = || "bad".to_owned();
        let table = [
            (Error::Full { path: path.clone() }, FailureKind::Input),
            (Error::Locked { path: path.clone() }, FailureKind::Input),
            (Error::Changed { skill: 1 }, FailureKind::Input),
            (
                Error::FileChanged {
                    path: path.clone(),
                    change: FileChange::Deleted,
                },
                FailureKind::Input,
            ),
            (
                Error::DamagedRow {
                    path: path.clone(),
                    table: "run",
                    key: "1".to_owned(),
                    reason: reason(),
                },
                FailureKind::Internal,
            ),
            (
                Error::Damaged {
                    path: path.clone(),
                    reason: reason(),
                },
                FailureKind::Internal,
            ),
            (
                Error::Io {
                    path,
                    reason: reason(),
                },
                FailureKind::Input,
            ),
            (Error::Closed, FailureKind::Internal),
        ];
        for (error, kind) in table {
            let failure = failure(&error);
            assert_eq!((failure.kind, failure.code), (kind, "store"), "{error}");
        }
    }
}
