//! The store in one `SQLite` file, for one machine.
//!
//! One thread writes and commits all waiting requests together (`writer.rs`), a few threads read
//! (`readers.rs`). Several processes may use one file at once; all rules are enforced inside transactions
//! and never in memory. Not here: folders and backups.

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
/// Dropping it blocks until all pending writes are done.
pub struct Sqlite {
    // Dropped first: the last connection to close cleans up the log, and only the writer can.
    readers: Readers,
    writer: Writer,
}

impl Sqlite {
    /// Opens a store, and creates the file if necessary. The folder must exist.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        let (db, identity) = open::writer(path, options)?;
        let identity = Arc::new(identity);
        Ok(Self {
            readers: Readers::start(path, options, open::reader, Some(&identity))?,
            writer: Writer::start(db, path.to_path_buf(), options, identity)?,
        })
    }

    /// Opens an existing store for reading, such as one in the folder of another user. No file is created or
    /// changed; writes are refused.
    pub fn open_read_only(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        open::check_readable(path, options)?;
        Ok(Self {
            readers: Readers::start(path, options, open::read_only, None)?,
            writer: Writer::none(path.to_path_buf()),
        })
    }

    /// Opens a store in place of a file that does not exist: reads find nothing, writes are refused, and no
    /// file is created.
    pub fn open_empty(path: &Path, options: &SqliteOptions) -> Result<Self, Error> {
        // Each reader creates its own empty database; one is enough.
        let options = &SqliteOptions {
            readers: 1,
            ..options.clone()
        };
        Ok(Self {
            readers: Readers::start(path, options, open::empty, None)?,
            writer: Writer::none(path.to_path_buf()),
        })
    }

    /// Returns the number of transactions committed through this handle. Each costs a sync of the disk, so
    /// this measures the cost of a task independently of the disk.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }
}
