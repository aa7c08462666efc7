//! Temporary folders for archives and clones, and the labels under which their files are reported.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use deft_wire::{Done, Failure};

/// A folder that only this user can read; it is removed when dropped.
#[derive(Debug)]
pub(super) struct ScratchFolder {
    path: PathBuf,
}

impl ScratchFolder {
    /// Creates a folder below `parent`.
    pub(super) fn create_in(parent: &Path) -> Done<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let fail = |path: &Path, problem: &io::Error| Failure::file(path, "create", problem);
        let real = parent.canonicalize();
        let parent = real.map_err(|problem| fail(parent, &problem))?;
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!(".deft-import-{}-{count}", std::process::id()));
            match create_private(&path) {
                Ok(()) => return Ok(Self { path }),
                // A leftover of a process with the same id, or a folder of another user.
                Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => {}
                Err(problem) => return Err(fail(&path, &problem)),
            }
        }
    }

    /// Creates a folder in the system's folder for temporary files.
    pub(super) fn create() -> Done<Self> {
        Self::create_in(&std::env::temp_dir())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed is no reason to fail.
        drop(fs::remove_dir_all(&self.path));
    }
}

fn create_private(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Labels for reported paths: `pack.zip/x.md` instead of a temporary folder that was removed, and the path that
/// the user wrote instead of the absolute one.
#[derive(Debug, Default)]
pub(super) struct Labels(Vec<(String, String)>);

impl Labels {
    /// Adds the label of a folder. With an empty label, its files are reported by relative path.
    pub(super) fn add(&mut self, folder: &Path, label: &str) {
        let label = match label {
            "" => String::new(),
            label => format!("{}/", label.trim_end_matches('/')),
        };
        self.0.push((format!("{}/", folder.display()), label));
    }

    /// Replaces all labelled folders in a text.
    pub(super) fn show(&self, text: &str) -> String {
        let known = self.0.iter().filter(|(folder, _)| folder != "//");
        known.fold(text.to_owned(), |text, (folder, label)| {
            text.replace(folder, label)
        })
    }
}
