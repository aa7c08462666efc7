//! The state of a file when it was read, without its content.

use std::fs::Metadata;
use std::time::SystemTime;

/// File metadata that is sufficient to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub size_bytes: u64,
    modified: Option<SystemTime>,
    identity: Identity,
}

/// Device, inode and time of the last status change. Distinguishes a file that replaced another one of the
/// same size.
#[cfg(unix)]
type Identity = (u64, u64, i64, i64);
#[cfg(not(unix))]
type Identity = ();

impl Stamp {
    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            size_bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (
        metadata.dev(),
        metadata.ino(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    )
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}

/// The identity of a folder, independent of its path. The same folder twice on one path is a loop.
#[cfg(unix)]
pub(crate) type FolderId = (u64, u64);
#[cfg(not(unix))]
pub(crate) type FolderId = std::path::PathBuf;

#[cfg(unix)]
pub(crate) fn folder_id(path: &std::path::Path) -> std::io::Result<FolderId> {
    use std::os::unix::fs::MetadataExt;
    path.metadata()
        .map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
pub(crate) fn folder_id(path: &std::path::Path) -> std::io::Result<FolderId> {
    path.canonicalize()
}
