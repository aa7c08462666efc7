//! Detection of a database file that was deleted, replaced or overwritten while open.
//!
//! `SQLite` keeps writing to a deleted file without an error. A second process would then create a new file
//! at the same path, and both would fire the same slots. So the device and inode of the file and of its log
//! are recorded when the database is opened, and compared at every use. `overwrite.rs` detects new contents
//! in the same file.
//!
//! Not here: the reaction to a changed file.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::overwrite::OverwriteCheck;
use crate::{Error, FileChange};

/// Device and inode of the database and of its log, as recorded when it was opened.
pub(super) struct Identity {
    files: Vec<(PathBuf, FileId)>,
    /// The check of the first file; exists once the log is known.
    overwrite: Option<OverwriteCheck>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(super) fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

impl Identity {
    /// Records the database alone, before it is opened.
    pub(super) fn of_database(path: &Path) -> Self {
        // The log is next to the file itself, not next to a symbolic link to it.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        Self::of_files([path])
    }

    /// Records the log too. Requires an open connection that has read something: that creates the log, which
    /// stays the same file until the last connection is closed.
    pub(super) fn with_log(self) -> Self {
        let logs = self.files.iter().map(|(path, _)| {
            let mut log = path.as_os_str().to_owned();
            log.push("-wal");
            PathBuf::from(log)
        });
        let logs = Self::of_files(logs.collect::<Vec<_>>());
        let database = self.files.first();
        let overwrite = database.and_then(|(path, _)| OverwriteCheck::start(path));
        let files = [self.files, logs.files].concat();
        Self { files, overwrite }
    }

    /// Records the ids of files. Files that cannot be examined now cannot be compared later, and are left
    /// out.
    fn of_files(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let known = paths.into_iter().filter_map(|path| {
            let metadata = fs::metadata(&path).ok()?;
            Some((path, FileId::from_metadata(&metadata)))
        });
        Self {
            files: known.collect(),
            overwrite: None,
        }
    }

    /// Whether the log of a process that died still has to be copied into the file.
    pub(super) fn has_open_checkpoint(&self) -> bool {
        self.overwrite
            .as_ref()
            .is_some_and(OverwriteCheck::has_open_checkpoint)
    }

    /// Fails if the database or its log was deleted, replaced or overwritten.
    pub(super) fn check(&self) -> Result<(), Error> {
        // The state of the log must be read before the database is examined; `overwrite.rs` explains why.
        let mut overwrite = self.overwrite.as_ref().and_then(OverwriteCheck::begin);
        for (path, id) in &self.files {
            // Only the first file is checked for overwriting.
            let overwrite = overwrite.take();
            let found = fs::metadata(path);
            let change = match found.as_ref().map_err(io::Error::kind) {
                Ok(found) if FileId::from_metadata(found) != *id => FileChange::Replaced,
                Ok(found) if overwrite.is_some_and(|look| look.finds_overwrite(found)) => {
                    FileChange::Overwritten
                }
                Err(ErrorKind::NotFound | ErrorKind::NotADirectory) => FileChange::Deleted,
                // If the path cannot be examined, the open file may still be in place.
                Ok(_) | Err(_) => continue,
            };
            return Err(Error::FileChanged {
                path: path.clone(),
                change,
            });
        }
        Ok(())
    }
}
