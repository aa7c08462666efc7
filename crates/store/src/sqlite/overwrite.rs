//! Detection of another program writing to the open database, as `cp backup deft.db` does: the inode stays
//! the same, and `SQLite` would mix the old pages with its log.
//!
//! While a database is open, only checkpoints write to the file. `SQLite` announces a checkpoint in the
//! index of the log (`-shm`, <https://www.sqlite.org/walformat.html>) before it writes the first page, and
//! records its end there. So a file whose size or time changed without a checkpoint was overwritten.
//! Comparing contents would not work: a backup may differ from the file in any page.
//!
//! Not here: deleted and renamed files (`identity.rs`).

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use parking_lot::{Mutex, MutexGuard};

use super::identity::FileId;

/// Files that stay open until the process ends. Closing any handle of a file releases all locks that the
/// process holds on it, including those of `SQLite`.
static HANDLES: LazyLock<Mutex<HashMap<FileId, Arc<File>>>> = LazyLock::new(Mutex::default);

/// Detects writes to a database that no checkpoint explains.
pub(super) struct OverwriteCheck {
    index: Arc<File>,
    seen: Mutex<FileState>,
}

/// The state of the files at the last check. The log is read before the file: a checkpoint between the two
/// leaves an old log state beside a new file, and at the next check the changed log explains the file. The
/// reverse order would report the checkpoint as a foreign write.
#[derive(Clone, Copy)]
struct FileState {
    log: LogState,
    stamp: Stamp,
}

/// The fields of the index that change when a checkpoint begins or ends, or the log restarts.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LogState {
    salts: u64,
    copied: u32,
    to_copy: u32,
}

/// The metadata that a write changes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: (i64, i64),
}

impl OverwriteCheck {
    /// Starts watching a database. Requires an open connection that has read something. `None` if the files
    /// cannot be read.
    pub(super) fn start(database: &Path) -> Option<Self> {
        let mut index = database.as_os_str().to_owned();
        index.push("-shm");
        let index = handle(Path::new(&index)).ok()?;
        let log = log_state(&index).ok()?;
        let stamp = Stamp::from_metadata(&fs::metadata(database).ok()?);
        Some(Self {
            index,
            seen: Mutex::new(FileState { log, stamp }),
        })
    }

    /// Reads the state of the log, before the file is examined. `None` if it cannot be read.
    pub(super) fn begin(&self) -> Option<FileCheck<'_>> {
        let seen = self.seen.lock();
        let log = log_state(&self.index).ok()?;
        Some(FileCheck {
            index: &self.index,
            log,
            seen,
        })
    }

    /// Whether a checkpoint is in progress or was interrupted. Until it is complete, foreign writes cannot
    /// be distinguished from its own.
    pub(super) fn has_open_checkpoint(&self) -> bool {
        log_state(&self.index).is_ok_and(|log| !log.is_copied())
    }
}

/// A check in progress: the log has been read, the file has not.
pub(super) struct FileCheck<'c> {
    index: &'c File,
    log: LogState,
    seen: MutexGuard<'c, FileState>,
}

impl FileCheck<'_> {
    /// Whether the file was overwritten since the last check. If the log cannot be read, returns `false`.
    pub(super) fn finds_overwrite(mut self, database: &Metadata) -> bool {
        let stamp = Stamp::from_metadata(database);
        if stamp != self.seen.stamp {
            // Read again, to include a checkpoint that wrote the change just seen.
            let Ok(log) = log_state(self.index) else {
                return false;
            };
            if log == self.seen.log && log.is_copied() {
                return true;
            }
        }
        *self.seen = FileState {
            log: self.log,
            stamp,
        };
        false
    }
}

impl Stamp {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }
}

impl LogState {
    fn is_copied(self) -> bool {
        self.copied == self.to_copy
    }
}

fn handle(path: &Path) -> io::Result<Arc<File>> {
    let id = FileId::from_metadata(&fs::metadata(path)?);
    let mut handles = HANDLES.lock();
    if let Some(file) = handles.get(&id) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    // The path may have changed meanwhile, so record the id of the file that was opened.
    let id = FileId::from_metadata(&file.metadata()?);
    handles.insert(id, Arc::clone(&file));
    Ok(file)
}

fn log_state(index: &File) -> io::Result<LogState> {
    let mut bytes = [0; 136];
    index.read_exact_at(&mut bytes, 0)?;
    let number = |at: usize| {
        let [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u32::from_ne_bytes([a, b, c, d])
    };
    Ok(LogState {
        salts: u64::from(number(32)) << 32 | u64::from(number(36)),
        copied: number(96),
        to_copy: number(128),
    })
}
