//! Unpacks untrusted archives: no file leaves the folder, only regular files are written, and the limits
//! apply to the real content, not to the headers.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

use deft_registry::open_regular;
use deft_wire::{Done, Failure};
use flate2::read::MultiGzDecoder;

use super::source::ArchiveKind;
use crate::skills::files::FileRefusal;

/// Limits on the content of an archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub entries: usize,
    pub file_bytes: u64,
    pub total_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: 20_000,
            file_bytes: 64 * 1024 * 1024,
            total_bytes: 512 * 1024 * 1024,
        }
    }
}

/// Unpacks an archive into an empty folder, and returns the entries that were refused. An archive that
/// exceeds a limit is refused as a whole.
pub(super) fn unpack(
    archive: &Path,
    kind: ArchiveKind,
    folder: &Path,
    limits: Limits,
) -> Done<Vec<FileRefusal>> {
    let file = open_regular(archive).map_err(|problem| Failure::file(archive, "read", &problem))?;
    let mut unpacking = Unpacker {
        folder,
        limits,
        entries: 0,
        bytes: 0,
        refused: Vec::new(),
    };
    let done = match kind {
        ArchiveKind::Zip => unpacking.zip(file),
        ArchiveKind::Tar => unpacking.tar(file, limits.total_bytes),
        ArchiveKind::TarGz => unpacking.tar(MultiGzDecoder::new(file), limits.total_bytes),
    };
    match done {
        Ok(()) => Ok(unpacking.refused),
        Err(stop) => Err(failure(archive, &stop)),
    }
}

/// Why unpacking stops.
#[derive(Debug)]
enum Stop {
    TooManyEntries(usize),
    FileTooLarge(String, u64),
    TotalTooLarge(u64),
    Unreadable(String),
    Unwritable(PathBuf, io::Error),
}

impl From<io::Error> for Stop {
    fn from(problem: io::Error) -> Self {
        Self::Unreadable(problem.to_string())
    }
}

fn failure(archive: &Path, stop: &Stop) -> Failure {
    let shown = archive.display();
    let megabytes = |bytes: u64| bytes / (1024 * 1024);
    let too_large = |what: String| {
        Failure::input("archive_too_large", format!("`{shown}` {what}"))
            .hint("nothing was imported; unpack it yourself and import the folder if you trust it")
    };
    match stop {
        Stop::TooManyEntries(most) => too_large(format!("has more than {most} entries")),
        Stop::FileTooLarge(name, most) => {
            let most = megabytes(*most);
            too_large(format!("has the file `{name}` of more than {most} MB"))
        }
        Stop::TotalTooLarge(most) => {
            let most = megabytes(*most);
            too_large(format!("unpacks to more than {most} MB"))
        }
        Stop::Unreadable(problem) => {
            let message = format!("`{shown}` cannot be unpacked: {problem}");
            Failure::input("unreadable_archive", message)
                .hint("check the archive with `unzip -t` or `tar -t`")
        }
        Stop::Unwritable(path, problem) => Failure::file(path, "write", problem),
    }
}

struct Unpacker<'a> {
    folder: &'a Path,
    limits: Limits,
    entries: usize,
    bytes: u64,
    refused: Vec<FileRefusal>,
}

impl Unpacker<'_> {
    fn zip(&mut self, file: impl Read + Seek) -> Result<(), Stop> {
        let mut archive =
            zip::ZipArchive::new(file).map_err(|problem| Stop::Unreadable(problem.to_string()))?;
        if archive.len() > self.limits.entries {
            return Err(Stop::TooManyEntries(self.limits.entries));
        }
        for at in 0..archive.len() {
            let mut entry = match archive.by_index(at) {
                Ok(entry) => entry,
                Err(problem) => {
                    self.refuse(&format!("entry {}", at + 1), &problem.to_string());
                    continue;
                }
            };
            let name = entry.name().to_owned();
            let mode = entry.unix_mode();
            let kind = zip_kind(entry.is_dir(), mode);
            self.entry(&name, kind, mode, &mut entry)?;
        }
        Ok(())
    }

    /// Unpacks a tar stream. Long names in a tar are separate entries, which the library reads into memory;
    /// the limit on the stream bounds them too.
    fn tar(&mut self, stream: impl Read, total_bytes: u64) -> Result<(), Stop> {
        // Headers and padding count as well.
        let most = total_bytes.saturating_mul(2);
        let mut archive = tar::Archive::new(stream.take(most));
        for entry in archive.entries()? {
            let mut entry = entry?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let kind = tar_kind(entry.header().entry_type());
            let mode = entry.header().mode().ok();
            self.entry(&name, kind, mode, &mut entry)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        name: &str,
        kind: EntryKind,
        mode: Option<u32>,
        content: &mut impl Read,
    ) -> Result<(), Stop> {
        self.entries += 1;
        if self.entries > self.limits.entries {
            return Err(Stop::TooManyEntries(self.limits.entries));
        }
        match (kind, safe_path(name)) {
            (EntryKind::Ignored | EntryKind::Folder, _) => {}
            (EntryKind::Link, _) => self.refuse(name, "it is a link"),
            (EntryKind::Special, _) => self.refuse(name, "it is a device, a pipe or a socket"),
            (EntryKind::File, None) => self.refuse(name, "its path leads out of the archive"),
            (EntryKind::File, Some(below)) => self.file(name, &below, mode, content)?,
        }
        Ok(())
    }

    fn file(
        &mut self,
        name: &str,
        below: &Path,
        mode: Option<u32>,
        content: &mut impl Read,
    ) -> Result<(), Stop> {
        let path = self.folder.join(below);
        let fail = |problem| Stop::Unwritable(path.clone(), problem);
        if let Some(parent) = path.parent()
            && let Err(problem) = fs::create_dir_all(parent)
        {
            if matches!(
                problem.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory
            ) {
                self.refuse(name, "another entry has the name of its folder");
                return Ok(());
            }
            return Err(fail(problem));
        }
        let mut file = match create(&path) {
            Ok(file) => file,
            Err(problem) if path.exists() => {
                self.refuse(name, &format!("another entry has its name ({problem})"));
                return Ok(());
            }
            Err(problem) => return Err(fail(problem)),
        };
        self.copy(name, content, &mut file, &path)?;
        make_executable(&file, mode).map_err(fail)
    }

    /// Copies the content of an entry and counts its real size, because its header may be wrong.
    fn copy(
        &mut self,
        name: &str,
        content: &mut impl Read,
        file: &mut File,
        path: &Path,
    ) -> Result<(), Stop> {
        let mut buffer = [0; 16 * 1024];
        let mut size: u64 = 0;
        loop {
            let count = content.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            let added = u64::try_from(count).unwrap_or(u64::MAX);
            size = size.saturating_add(added);
            self.bytes = self.bytes.saturating_add(added);
            if size > self.limits.file_bytes {
                return Err(Stop::FileTooLarge(name.to_owned(), self.limits.file_bytes));
            }
            if self.bytes > self.limits.total_bytes {
                return Err(Stop::TotalTooLarge(self.limits.total_bytes));
            }
            file.write_all(&buffer[..count])
                .map_err(|problem| Stop::Unwritable(path.to_path_buf(), problem))?;
        }
    }

    fn refuse(&mut self, name: &str, reason: &str) {
        // An absolute name must not be joined: it would report a file outside the archive.
        let shown = self.folder.join(name.trim_start_matches('/'));
        self.refused.push(FileRefusal::new(&shown, reason));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryKind {
    File,
    Folder,
    Link,
    Special,
    /// An entry with metadata about other entries.
    Ignored,
}

/// Returns the kind of a zip entry. The file type is in the upper bits of the mode, if the archive has one.
fn zip_kind(is_folder: bool, mode: Option<u32>) -> EntryKind {
    match mode.map(|mode| mode & 0o170_000) {
        Some(0o120_000) => EntryKind::Link,
        Some(0o040_000) => EntryKind::Folder,
        Some(0 | 0o100_000) | None if is_folder => EntryKind::Folder,
        Some(0 | 0o100_000) | None => EntryKind::File,
        Some(_) => EntryKind::Special,
    }
}

fn tar_kind(kind: tar::EntryType) -> EntryKind {
    if kind.is_file() || kind.is_contiguous() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_symlink() || kind.is_hard_link() {
        EntryKind::Link
    } else if kind.is_pax_global_extensions() || kind.is_pax_local_extensions() {
        EntryKind::Ignored
    } else {
        EntryKind::Special
    }
}

/// Returns the relative path of an entry; `None` if it is absolute, contains `..`, or is empty.
fn safe_path(name: &str) -> Option<PathBuf> {
    // Archives of Windows may contain backslashes and drive letters.
    if name.contains(['\\', '\0']) || name.contains(':') {
        return None;
    }
    let mut below = PathBuf::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => below.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (below != Path::new("")).then_some(below)
}

/// Creates a new file. An existing file or link is never opened.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Keeps only the executable bit of the permissions.
#[cfg(unix)]
fn make_executable(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let runs = mode.is_some_and(|mode| mode & 0o111 != 0);
    file.set_permissions(fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn make_executable(_: &File, _: Option<u32>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
