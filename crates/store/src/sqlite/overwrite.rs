//! Tells whether another program has written into the open database, as `cp backup deft.db` does: the
//! file stays the same inode, and `SQLite` would mix the old pages with its log.
//!
//! While a database is open, only a checkpoint writes to the file. `SQLite` announces it in the index
//! of the log (`-shm`, <https://www.sqlite.org/walformat.html>) before the first page is written and
//! notes there when it is through. So a file whose size or time changed without one was overwritten.
//! Looking at the contents would not do: a backup may differ from the file in any page.
//!
//! Not here: deleted and renamed files (`identity.rs`).

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::identity::FileId;

/// Files that stay open until the process ends. Closing any handle of a file releases all locks that
/// the process holds on it, those of `SQLite` among them.
static HANDLES: LazyLock<Mutex<HashMap<FileId, Arc<File>>>> = LazyLock::new(Mutex::default);

/// Sees writes to a database that no checkpoint explains.
pub(super) struct OverwriteCheck {
    database: PathBuf,
    index: Arc<File>,
    seen: Mutex<Seen>,
}

/// What the files were like at the last look. The log was read before the file: a checkpoint between
/// the two leaves an old note of the log, which explains a new file, and never the reverse.
#[derive(Clone, Copy)]
struct Seen {
    log: LogState,
    stamp: Stamp,
}

/// What changes when a checkpoint begins, ends, or the log starts again.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LogState {
    salts: u64,
    copied: u32,
    to_copy: u32,
}

/// What a write changes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: (i64, i64),
}

impl OverwriteCheck {
    /// `None` where the files cannot be read. A connection has to be open that has read something.
    pub(super) fn start(database: &Path) -> Option<Self> {
        let mut index = database.as_os_str().to_owned();
        index.push("-shm");
        let index = handle(Path::new(&index)).ok()?;
        let seen = look(database, &index).ok()?;
        Some(Self {
            database: database.to_path_buf(),
            index,
            seen: Mutex::new(seen),
        })
    }

    /// Whether the file was overwritten since the last look. A file that cannot be read says nothing.
    pub(super) fn is_overwritten(&self) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(newer) = look(&self.database, &self.index) else {
            return false;
        };
        if newer.stamp != seen.stamp {
            // Read again, so that a checkpoint that wrote what was just seen is seen too.
            let Ok(log) = log_state(&self.index) else {
                return false;
            };
            if log == seen.log && log.is_settled() {
                return true;
            }
        }
        *seen = newer;
        false
    }

    /// Whether a checkpoint is under way or was cut off. While it is, no write can be told from its own.
    pub(super) fn is_unsettled(&self) -> bool {
        log_state(&self.index).is_ok_and(|log| !log.is_settled())
    }
}

impl LogState {
    fn is_settled(self) -> bool {
        self.copied == self.to_copy
    }
}

fn handle(path: &Path) -> io::Result<Arc<File>> {
    let id = FileId::from_metadata(&fs::metadata(path)?);
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = handles.get(&id) {
        return Ok(Arc::clone(file));
    }
    let file = Arc::new(File::open(path)?);
    // The path may have changed since; what is kept is what was opened.
    let id = FileId::from_metadata(&file.metadata()?);
    handles.insert(id, Arc::clone(&file));
    Ok(file)
}

fn look(database: &Path, index: &File) -> io::Result<Seen> {
    let log = log_state(index)?;
    let metadata = fs::metadata(database)?;
    let stamp = Stamp {
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    };
    Ok(Seen { log, stamp })
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
