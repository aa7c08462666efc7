//! Tells whether the open database is still the file at its path.
//!
//! `SQLite` keeps writing to a deleted file and never complains. A second process would then make a
//! new file at the same path, and both would fire the same slots. So the device and inode of the file
//! and of its log are noted when the database is opened, and compared whenever it is used.
//!
//! Not here: who reacts to a changed file, and how.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::{Error, FileChange};

/// Device and inode of the database and of its log, as they were when it was opened.
pub(super) struct Identity {
    files: Vec<(PathBuf, FileId)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl Identity {
    /// Notes the database alone, before it is opened.
    pub(super) fn of_database(path: &Path) -> Self {
        // The log stands beside the file itself, not beside a link to it.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        Self::of_files([path])
    }

    /// Notes the log too. A connection has to be open that has read something: the log exists from
    /// then on, and stays the same file until the last connection is closed.
    pub(super) fn with_log(self) -> Self {
        let logs = self.files.iter().map(|(path, _)| {
            let mut log = path.as_os_str().to_owned();
            log.push("-wal");
            PathBuf::from(log)
        });
        let logs = Self::of_files(logs.collect::<Vec<_>>());
        let files = [self.files, logs.files].concat();
        Self { files }
    }

    /// A file that cannot be looked at now cannot be compared later, and is left out.
    fn of_files(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        let known = paths.into_iter().filter_map(|path| {
            let id = file_id(&path).ok()?;
            Some((path, id))
        });
        Self {
            files: known.collect(),
        }
    }

    /// Fails if the database or its log was deleted or replaced.
    pub(super) fn check(&self) -> Result<(), Error> {
        for (path, id) in &self.files {
            let change = match file_id(path) {
                Ok(found) if found == *id => continue,
                Ok(_) => FileChange::Replaced,
                Err(ErrorKind::NotFound | ErrorKind::NotADirectory) => FileChange::Deleted,
                // A path that cannot be looked at says nothing about the open file.
                Err(_) => continue,
            };
            return Err(Error::FileChanged {
                path: path.clone(),
                change,
            });
        }
        Ok(())
    }
}

fn file_id(path: &Path) -> Result<FileId, ErrorKind> {
    let metadata = fs::metadata(path).map_err(|error| error.kind())?;
    Ok(FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    })
}
