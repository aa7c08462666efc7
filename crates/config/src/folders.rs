//! Creates a home folder on disk, writes its files, and restricts them to their owner.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::replace::{Access, replace};
use deft_wire::{Done, Failure};

/// Returns the path of the configuration file of `home`.
pub fn config_file(home: &Path) -> PathBuf {
    home.join("config.toml")
}

/// Creates the home folder if it does not exist; only its owner can open it.
pub fn ensure_home(home: &Path) -> Done<()> {
    create_private_folder(home)
}

/// Creates a folder that only its owner can open. An existing folder is not changed.
pub(crate) fn create_private_folder(path: &Path) -> Done<()> {
    if path.is_dir() {
        return Ok(());
    }
    create_folder(path)?;
    restrict(path).map_err(|problem| Failure::file(path, "protect", &problem))
}

/// The exclusive right to edit the files of a home, released when dropped.
#[derive(Debug)]
pub struct EditLock {
    _folder: Option<File>,
}

/// Waits until no other thread or process edits files of the home.
///
/// Every edit that reads a file, changes it and writes it back holds this lock, because an edit in between would be lost.
/// The folder itself is locked, so that no lock file is left behind. On a file system without locks, the last edit wins.
pub fn lock_edits(home: &Path) -> EditLock {
    let folder = File::open(home).ok();
    EditLock {
        _folder: folder.filter(|folder| folder.lock().is_ok()),
    }
}

/// Writes a file that only its owner can read, even if others could read the file it replaces.
pub fn write_private(path: &Path, text: &str) -> Done<()> {
    replace(path, text, Access::Owner).map_err(|problem| Failure::file(path, "write", &problem))
}

/// Replaces the whole content of a file and keeps its permissions.
pub fn replace_file(path: &Path, text: &str) -> Done<()> {
    replace(path, text, Access::Keep).map_err(|problem| Failure::file(path, "write", &problem))
}

/// Whether users other than the owner can read or change a file.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Whether users other than the owner can read or change a file; always false on this platform.
#[cfg(not(unix))]
pub fn is_open_to_others(_: &Path) -> bool {
    false
}

/// Restricts a file to its owner.
#[cfg(unix)]
pub fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// Restricts a file to its owner; does nothing on this platform.
#[cfg(not(unix))]
pub fn make_private(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Creates a folder and its parents.
pub fn create_folder(path: &Path) -> Done<()> {
    fs::create_dir_all(path).map_err(|problem| Failure::file(path, "create", &problem))
}

#[cfg(unix)]
fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}
