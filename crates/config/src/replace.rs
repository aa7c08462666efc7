//! Replaces files atomically: readers see the old content or the new. A new file belongs to its owner alone.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Read access to a replaced file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The permissions of the old file; the owner only if there was none.
    Keep,
    /// The owner only.
    Owner,
}

/// Replaces the content of the file atomically. A symbolic link stays a link.
pub(crate) fn replace(path: &Path, text: &str, access: Access) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let fresh = temporary_path(&path);
    let mut how = OpenOptions::new();
    how.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut how, 0o600);
    let written = how.open(&fresh).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        if access == Access::Keep
            && let Ok(old) = fs::metadata(&path)
        {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    });
    let done = written.and_then(|()| fs::rename(&fresh, &path));
    if done.is_err() {
        // A partial file is useless. The caller gets the first error, not that of the removal.
        drop(fs::remove_file(&fresh));
    }
    done
}

/// Returns a path in the same folder that no other process and no other thread uses.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (process, number) = (std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    path.with_file_name(format!("{name}.{process}-{number}.new"))
}
