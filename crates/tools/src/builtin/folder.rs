//! Restricts file access of tools to the allowed folders.
//!
//! A path is allowed only if it is inside an allowed folder after following every link; `..` is
//! rejected before that, so that a message never reveals what exists outside. The resolved path is then
//! opened component by component from the allowed folder without following links, so a link that is
//! added in between has no effect.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use deft_model::{Failure, FailureClass};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, openat, renameat, statat, unlinkat};

use super::invalid;
use crate::options::FileOptions;

/// Returns the real path of an existing file or folder.
pub(super) fn existing_path(options: &FileOptions, given: &str) -> Result<PathBuf, Failure> {
    let path = candidate(options, given)?;
    let real = path.canonicalize().map_err(|error| io(given, &error))?;
    inside(options, given, real)
}

/// Returns the real path of a file that may not exist yet.
pub(super) fn creatable(options: &FileOptions, given: &str) -> Result<PathBuf, Failure> {
    let path = candidate(options, given)?;
    // A link is followed, so that the file written is the file that was checked.
    if path.symlink_metadata().is_ok() {
        return existing_path(options, given);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(invalid(format!("`{given}` is not the path of a file")));
    };
    let parent = parent.canonicalize().map_err(|error| io(given, &error))?;
    inside(options, given, parent.join(name))
}

/// Returns the real path that a tool would read or write; `None` if it may not.
pub(crate) fn real_path(options: &FileOptions, given: &str) -> Option<PathBuf> {
    creatable(options, given).ok()
}

/// Intermediate folders are only passed through, which needs no permission to list them.
#[cfg(target_os = "linux")]
const THROUGH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const THROUGH: OFlags = OFlags::RDONLY;

/// A name in an open folder. Later changes to the path have no effect.
pub(super) struct OpenEntry {
    folder: OwnedFd,
    name: OsString,
}

impl OpenEntry {
    /// Opens the folder of a real path, as [`existing_path`] and [`creatable`] return it.
    pub(super) fn from_real_path(
        options: &FileOptions,
        given: &str,
        real: &Path,
    ) -> Result<Self, Failure> {
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(invalid(format!("`{given}` is not the path of a file")));
        };
        // The allowed folder itself is not inside an allowed folder.
        let Some(root) = roots(options).find(|root| parent.starts_with(root)) else {
            return Err(invalid(format!("`{given}` is not a file")));
        };
        let folder = descend(&root, parent, THROUGH).map_err(|error| io(given, &error))?;
        let name = name.to_owned();
        Ok(Self { folder, name })
    }

    /// Opens the file. Never blocks on a pipe, and never follows a link.
    pub(super) fn open(&self, flags: OFlags) -> std::io::Result<File> {
        self.open_as(&self.name, flags | OFlags::NONBLOCK)
    }

    /// Creates a file with another name in the same folder.
    pub(super) fn create_sibling(&self, name: &OsStr) -> std::io::Result<File> {
        self.open_as(name, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)
    }

    fn open_as(&self, name: &OsStr, flags: OFlags) -> std::io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&self.folder, name, flags, Mode::from_raw_mode(0o666))?;
        Ok(File::from(opened))
    }

    /// Returns the file's metadata without following a link.
    pub(super) fn stat(&self) -> std::io::Result<Stat> {
        Ok(statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Renames another file of the folder to this name, replacing the old file.
    pub(super) fn replace_by(&self, name: &OsStr) -> std::io::Result<()> {
        Ok(renameat(&self.folder, name, &self.folder, &self.name)?)
    }

    /// Removes another file of the folder.
    pub(super) fn remove_sibling(&self, name: &OsStr) -> std::io::Result<()> {
        Ok(unlinkat(&self.folder, name, AtFlags::empty())?)
    }

    /// Removes the file; fails for a folder.
    pub(super) fn remove(&self) -> std::io::Result<()> {
        self.remove_sibling(&self.name)
    }

    /// Returns the last component of the path.
    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }
}

/// Opens a real path that is a folder, for listing.
pub(super) fn open_folder(
    options: &FileOptions,
    given: &str,
    real: &Path,
) -> Result<OwnedFd, Failure> {
    let Some(root) = roots(options).find(|root| real.starts_with(root)) else {
        return Err(outside(given));
    };
    descend(&root, real, OFlags::RDONLY).map_err(|error| io(given, &error))
}

/// Opens a folder component by component from a root, without following links.
fn descend(root: &Path, path: &Path, last: OFlags) -> std::io::Result<OwnedFd> {
    let parts: Vec<&OsStr> = match path.strip_prefix(root) {
        Ok(rest) => rest.iter().collect(),
        Err(_) => return Err(std::io::ErrorKind::NotFound.into()),
    };
    let flags = |left: usize| {
        let how = if left == 0 { last } else { THROUGH };
        how | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
    };
    let mut folder = openat(CWD, root, flags(parts.len()), Mode::empty())?;
    for (place, part) in parts.iter().enumerate() {
        let left = parts.len() - place - 1;
        folder = openat(&folder, *part, flags(left), Mode::empty())?;
    }
    Ok(folder)
}

/// Returns the allowed folders as real paths.
fn roots(options: &FileOptions) -> impl Iterator<Item = PathBuf> {
    let folders = options.folders.iter();
    folders.filter_map(|folder| folder.canonicalize().ok())
}

/// Returns the given path as an absolute path; relative paths start in the first allowed folder.
fn candidate(options: &FileOptions, given: &str) -> Result<PathBuf, Failure> {
    let Some(first) = options.folders.first() else {
        return Err(Failure::new(
            FailureClass::NotFound,
            "no folders are configured for the `file` tools",
        )
        .hint("list folders in `tools.file.folders`")
        .mark_blocked());
    };
    let path = Path::new(given);
    if given.is_empty()
        || given.contains('\0')
        || path.components().any(|part| part == Component::ParentDir)
    {
        return Err(invalid(format!(
            "the path `{given}` must not be empty or have `..` in it"
        )));
    }
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    Ok(first.join(path))
}

fn inside(options: &FileOptions, given: &str, real: PathBuf) -> Result<PathBuf, Failure> {
    if roots(options).any(|folder| real.starts_with(folder)) {
        return Ok(real);
    }
    Err(outside(given))
}

fn outside(given: &str) -> Failure {
    invalid(format!("the path `{given}` is outside the allowed folders"))
        .hint("list its folder in `tools.file.folders`")
}

/// Returns the failure for an I/O error.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of I/O errors are many and grow with Rust"
)]
pub(super) fn io(given: &str, error: &std::io::Error) -> Failure {
    use std::io::ErrorKind;
    let class = match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => FailureClass::NotFound,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FailureClass::Auth,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            FailureClass::Limit
        }
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::IsADirectory => {
            FailureClass::Invalid
        }
        _ => FailureClass::Other,
    };
    let text = error.to_string();
    let text = text
        .split(" (os error")
        .next()
        .unwrap_or_default()
        .to_lowercase();
    Failure::new(class, format!("`{given}`: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// The attack happens between the check of a path and its use.
    #[test]
    fn a_link_created_after_the_check_is_not_followed() {
        let world = tempfile::tempdir().unwrap();
        let (open, closed) = (world.path().join("open"), world.path().join("closed"));
        for folder in [&open, &closed] {
            fs::create_dir_all(folder.join("sub")).unwrap();
            fs::write(folder.join("sub/a.txt"), "a").unwrap();
        }
        let options = FileOptions {
            folders: vec![open.clone()],
            ..FileOptions::default()
        };
        let real = existing_path(&options, "sub/a.txt").unwrap();
        let folder = existing_path(&options, "sub").unwrap();
        let held = OpenEntry::from_real_path(&options, "sub/a.txt", &real).unwrap();
        fs::rename(open.join("sub"), open.join("moved")).unwrap();
        symlink(closed.join("sub"), open.join("sub")).unwrap();
        // A folder was replaced by a link: neither the file nor the listing is reachable.
        assert!(OpenEntry::from_real_path(&options, "sub/a.txt", &real).is_err());
        assert!(open_folder(&options, "sub", &folder).is_err());
        // A file was replaced by a link, in a folder that was already open.
        fs::remove_file(open.join("moved/a.txt")).unwrap();
        symlink(closed.join("sub/a.txt"), open.join("moved/a.txt")).unwrap();
        assert!(held.open(OFlags::RDONLY).is_err());
        assert!(held.open(OFlags::WRONLY | OFlags::APPEND).is_err());
        held.remove().unwrap();
        assert_eq!(fs::read_to_string(closed.join("sub/a.txt")).unwrap(), "a");
    }
}
