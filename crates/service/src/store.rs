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
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "errors of the store are open-ended; only these allow reading"
)]
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
    let opened = Sqlite::open(path, &options).or_else(|error| match error {
        // On a full disk no file can be created beside the database, but its content can still be read.
        Error::ReadOnly { .. } | Error::NoAccess { .. } | Error::Full { .. } | Error::Io { .. } => {
            Sqlite::open_read_only(path, &options).map_err(|_| error)
        }
        other => Err(other),
    });
    Ok(Arc::new(opened.map_err(|error| failure(&error))?))
}

/// Converts an error of the store for front ends.
pub(crate) fn failure(error: &deft_store::Error) -> Failure {
    Failure::input("store", error.to_string()).maybe_hint(error.hint().map(Into::into))
}
