//! Safe reading of files: only regular files are opened.
//!
//! Opening a pipe can block for ever, reading a device can have effects, and the files below `/proc`, `/sys`
//! and `/dev` belong to the system and may be endless. Not here: which folders a link may lead into
//! (`territory.rs`).

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

/// System folders that contain no ordinary files.
const SYSTEM: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Reads a regular file of at most `max_bytes`.
pub fn read_regular(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let metadata = path.metadata()?;
    check_kind(metadata.file_type())?;
    if is_system(path) || is_system(&absolute_path(path)?) {
        return Err(refused_error(SYSTEM_FILE));
    }
    if let Some(file) = open_without_links(path) {
        let metadata = file.metadata()?;
        check(&metadata)?;
        check_size(&metadata, max_bytes)?;
        return read_open(file, &metadata, max_bytes);
    }
    if is_system(&path.canonicalize()?) {
        return Err(refused_error(SYSTEM_FILE));
    }
    read_known(path, &metadata, max_bytes)
}

/// Opens a file if no part of its path is a link. This takes one question to the kernel, where resolving the
/// links of a path takes one per folder. `None` if there is a link, or the kernel is older than 5.6.
#[cfg(target_os = "linux")]
fn open_without_links(path: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    file.ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(_: &Path) -> Option<File> {
    None
}

/// Returns a path from the root without `..`, which is the real path if no part of it is a link. With a link it
/// may be another one; then a file could be refused that is not of the system, but never the other way round,
/// because the real path is checked too.
fn absolute_path(path: &Path) -> io::Result<PathBuf> {
    let mut absolute = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => drop(absolute.pop()),
            Component::Prefix(_)
            | Component::RootDir
            | Component::CurDir
            | Component::Normal(_) => absolute.push(part),
        }
    }
    Ok(absolute)
}

/// Like [`read_regular`], for UTF-8 text.
pub fn read_text(path: &Path, max_bytes: u64) -> io::Result<String> {
    let bytes = read_regular(path, max_bytes)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Like [`read_regular`], if the caller has the metadata and has already checked links.
pub(crate) fn read_known(path: &Path, metadata: &Metadata, max_bytes: u64) -> io::Result<Vec<u8>> {
    check(metadata)?;
    check_size(metadata, max_bytes)?;
    read_open(open_regular(path)?, metadata, max_bytes)
}

/// Reads an open file of at most `max_bytes`.
fn read_open(file: File, metadata: &Metadata, max_bytes: u64) -> io::Result<Vec<u8>> {
    // The file may have grown since its metadata was read.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    file.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn check_size(metadata: &Metadata, max_bytes: u64) -> io::Result<()> {
    if metadata.len() > max_bytes {
        let message = format!("it has {} bytes, {max_bytes} are allowed", metadata.len());
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

/// Opens a regular file. For anything else, opening does not block, and the file is closed unread.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut how = OpenOptions::new();
    how.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        how.custom_flags(flags.bits().cast_signed());
    }
    let file = how.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    check_kind(metadata.file_type())?;
    if is_on_system_device(metadata) {
        return Err(refused_error(SYSTEM_FILE));
    }
    Ok(())
}

const SYSTEM_FILE: &str = "it is a file of the system, not one of a disk";

fn check_kind(kind: FileType) -> io::Result<()> {
    match special_name(kind) {
        None => Ok(()),
        Some(what) => Err(refused_error(&format!("it is {what}, not a regular file"))),
    }
}

fn refused_error(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Returns the name for a kind of file that is neither a regular file nor a link.
fn special_name(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        return None;
    }
    special(kind)
        .or(Some("a folder").filter(|_| kind.is_dir()))
        .or(Some("something else"))
}

/// Returns the name for a special file: a pipe, socket or device.
#[cfg(unix)]
pub(crate) fn special(kind: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    [
        (kind.is_fifo(), "a named pipe"),
        (kind.is_socket(), "a socket"),
        (kind.is_char_device() || kind.is_block_device(), "a device"),
    ]
    .into_iter()
    .find_map(|(is, what)| is.then_some(what))
}

#[cfg(not(unix))]
pub(crate) fn special(_: FileType) -> Option<&'static str> {
    None
}

/// Whether a path without links is in a system folder.
pub(crate) fn is_system(real: &Path) -> bool {
    SYSTEM.iter().any(|folder| real.starts_with(folder))
}

/// Whether a file is on a device of a system folder, whatever path leads there.
#[cfg(unix)]
pub(crate) fn is_on_system_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    static DEVICES: LazyLock<Vec<u64>> = LazyLock::new(|| {
        let device = |path: &str| fs::metadata(path).map(|metadata| metadata.dev()).ok();
        let disk = device("/");
        // In a minimal container these folders may be ordinary ones.
        let devices = SYSTEM.iter().filter_map(|path| device(path));
        devices.filter(|found| Some(*found) != disk).collect()
    });
    DEVICES.contains(&metadata.dev())
}

#[cfg(not(unix))]
pub(crate) fn is_on_system_device(_: &Metadata) -> bool {
    false
}

/// Returns the name of a file or folder if it is UTF-8.
pub(crate) fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn refusal_of(path: &Path) -> String {
        read_regular(path, 100).unwrap_err().to_string()
    }

    /// Each of these would block for ever, or never end, if it were opened and read.
    #[test]
    fn only_regular_files_are_read() {
        let world = tempfile::tempdir().unwrap();
        let path = |name: &str| world.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RUSR).unwrap();
        let _listener = UnixListener::bind(path("socket")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        for (name, target) in [
            ("to_pipe", "pipe"),
            ("to_zero", "/dev/zero"),
            ("to_proc", "/proc/self/status"),
            ("to_dev", "/dev"),
        ] {
            symlink(target, path(name)).unwrap();
        }
        for (name, reason) in [
            ("pipe", "it is a named pipe, not a regular file"),
            ("to_pipe", "it is a named pipe, not a regular file"),
            ("socket", "it is a socket, not a regular file"),
            ("folder", "it is a folder, not a regular file"),
            ("to_zero", "it is a device, not a regular file"),
            ("to_proc", "it is a file of the system, not one of a disk"),
            ("to_dev", "it is a folder, not a regular file"),
        ] {
            assert_eq!(refusal_of(&path(name)), reason, "{name}");
        }
        assert_eq!(
            refusal_of(Path::new("/dev/null")),
            "it is a device, not a regular file"
        );
        assert_eq!(
            refusal_of(Path::new("/proc/version")),
            "it is a file of the system, not one of a disk"
        );
    }

    /// A folder of the system can be on another device than the system folder itself.
    #[test]
    fn links_to_folders_of_the_system_are_refused() {
        let Ok(shared) = tempfile::tempdir_in("/dev/shm") else {
            // A minimal container has no such folder.
            return;
        };
        fs::write(shared.path().join("file"), "a").unwrap();
        let world = tempfile::tempdir().unwrap();
        let link = world.path().join("link");
        symlink(shared.path(), &link).unwrap();
        let refused = "it is a file of the system, not one of a disk";
        assert_eq!(refusal_of(&link.join("file")), refused);
        let above = "../".repeat(30);
        let around = format!(
            "{above}{}/file",
            shared.path().strip_prefix("/").unwrap().display()
        );
        assert_eq!(refusal_of(Path::new(&around)), refused);
    }

    #[test]
    fn a_file_is_read_through_links_of_its_path() {
        let world = tempfile::tempdir().unwrap();
        let path = |name: &str| world.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("folder/file"), "a").unwrap();
        symlink("folder", path("to_folder")).unwrap();
        symlink("folder/file", path("to_file")).unwrap();
        for name in [
            "folder/file",
            "folder/../to_folder/file",
            "to_folder/file",
            "to_file",
        ] {
            assert_eq!(read_text(&path(name), 1).unwrap(), "a", "{name}");
        }
    }

    /// Opening does not block if a file becomes a pipe after it was checked.
    #[test]
    fn opening_does_not_block() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RUSR).unwrap();
        let error = open_regular(&path).unwrap_err();
        assert_eq!(error.to_string(), "it is a named pipe, not a regular file");
    }

    #[test]
    fn files_are_read_up_to_the_size_limit() {
        let world = tempfile::tempdir().unwrap();
        let path = world.path().join("file");
        fs::write(&path, "a".repeat(100)).unwrap();
        assert_eq!(read_text(&path, 100).unwrap().len(), 100);
        assert_eq!(
            read_text(&path, 99).unwrap_err().to_string(),
            "it has 100 bytes, 99 are allowed"
        );
        fs::write(&path, [0xff]).unwrap();
        assert_eq!(
            read_text(&path, 99).unwrap_err().to_string(),
            "it is not UTF-8 text"
        );
    }
}
