//! The store in one `SQLite` file: what one machine needs.
//!
//! One thread writes and commits all waiting requests together (`writer.rs`), a few threads read
//! (`readers.rs`). Several processes may use one file at once; the rules are kept inside
//! transactions and never in memory. Not here: folders and backups.

mod admit;
mod append;
mod aside;
mod claim;
mod conversations;
mod damage;
mod fault;
mod figures;
mod finish;
mod group;
mod identity;
mod ledger;
mod list;
mod open;
mod outbox;
mod overwrite;
mod people;
mod prune;
mod readers;
mod row;
mod skills;
mod traits;
mod trash;
mod writer;

use std::path::Path;
use std::sync::Arc;

use crate::Error;
pub use open::SqliteOptions;
use readers::Readers;
use writer::Writer;
pub use writer::on_own_thread;

/// A [`Store`](crate::Store) in a file.
///
/// Dropping it writes what was handed over and waits for that.
pub struct Sqlite {
    // Readers first: the last connection to be closed tidies up the log, and only a writer can.
    readers: Readers,
    writer: Writer,
}

impl Sqlite {
    /// Opens a store, or makes it. The folder has to be there.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        let (db, identity) = open::writer(path, options)?;
        let identity = Arc::new(identity);
        Ok(Self {
            readers: Readers::start(path, options, open::reader, Some(&identity))?,
            writer: Writer::start(db, path.to_path_buf(), options, identity)?,
        })
    }

    /// Opens a store for reading, such as one in the folder of another user. No file is created or
    /// changed; requests that write are refused.
    pub fn open_read_only(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        open::check_readable(path, options)?;
        Ok(Self {
            readers: Readers::start(path, options, open::read_only, None)?,
            writer: Writer::none(path.to_path_buf()),
        })
    }

    /// A store in place of a file that does not exist: reads find nothing, requests that write are
    /// refused, and no file is created.
    pub fn open_empty(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        // Each reader makes its own empty database, and one is enough to find nothing.
        let options = &SqliteOptions {
            readers: 1,
            ..options.clone()
        };
        Ok(Self {
            readers: Readers::start(path, options, open::empty, None)?,
            writer: Writer::none(path.to_path_buf()),
        })
    }

    /// How many transactions were committed through this handle. Each costs a sync of the disk, so
    /// this is what tells whether a task is slow, on any disk.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }
}
