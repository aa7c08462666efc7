//! Writes files safely: atomically, and without overwriting files unless asked to.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use deft_registry::{LoadedSkill, read_regular};

use deft_config::create_folder;
use deft_wire::skill_files::RefusedFile;
use deft_wire::{Done, Failure};

/// Maximum size of a file to copy.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A file to be written.
#[derive(Debug)]
pub(super) struct PlannedFile {
    pub path: PathBuf,
    pub content: Vec<u8>,
    /// The permissions of the original, if it is a copy.
    pub mode: Option<u32>,
}

/// A file that is not exported, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRefusal {
    pub path: PathBuf,
    pub reason: String,
}

impl FileRefusal {
    pub(super) fn new(path: &Path, reason: impl Into<String>) -> Self {
        Self {
            path: path.to_path_buf(),
            reason: reason.into(),
        }
    }

    /// Converts the refusal for output as JSON.
    pub(super) fn view(&self) -> RefusedFile {
        RefusedFile {
            path: self.path.display().to_string(),
            reason: self.reason.clone(),
        }
    }
}

/// The effect of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The file does not exist yet.
    New,
    /// The file exists with the same content.
    Same,
    /// The file exists with other content.
    Replaces,
    /// Something other than a file exists at the path.
    Blocked,
}

impl PlannedFile {
    /// Returns a file with this content and default permissions.
    pub(super) fn new(path: PathBuf, content: String) -> Self {
        Self {
            path,
            content: content.into_bytes(),
            mode: None,
        }
    }

    /// Returns a copy of a file with its permissions.
    pub(super) fn copy(from: &Path, path: PathBuf) -> io::Result<Self> {
        let content = read_regular(from, MAX_BYTES)?;
        let mode = mode(from);
        Ok(Self {
            path,
            content,
            mode,
        })
    }

    pub(super) fn effect(&self) -> Effect {
        match read_regular(&self.path, MAX_BYTES) {
            Ok(content) if content == self.content && self.runs_alike() => Effect::Same,
            Ok(_) => Effect::Replaces,
            Err(problem) if problem.kind() == ErrorKind::NotFound => Effect::New,
            Err(_) if self.path.is_file() => Effect::Replaces,
            Err(_) => Effect::Blocked,
        }
    }

    /// Whether the existing and the new file are both executable or both not. Other permissions differ
    /// between users and are ignored.
    fn runs_alike(&self) -> bool {
        let runs = |mode: u32| mode & 0o111 != 0;
        match (self.mode, mode(&self.path)) {
            (Some(new), Some(old)) => runs(new) == runs(old),
            _ => true,
        }
    }

    /// Writes a temporary file in the same folder and renames it, so that programs watching the folder never
    /// see a partial file.
    pub(super) fn write(&self) -> Done<()> {
        self.write_to(&self.path)
    }

    /// Like [`Self::write`], to another path.
    pub(super) fn write_to(&self, path: &Path) -> Done<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let written = self.fill(&draft).and_then(|()| fs::rename(&draft, path));
        written.map_err(|problem| {
            // The temporary file may not exist.
            drop(fs::remove_file(&draft));
            Failure::file(path, "write", &problem)
        })
    }

    fn fill(&self, draft: &Path) -> io::Result<()> {
        let mut file = fs::File::create(draft)?;
        file.write_all(&self.content)?;
        if let Some(mode) = self.mode {
            set_mode(&file, mode)?;
        }
        file.sync_all()
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = path.metadata().ok()?;
    Some(metadata.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &fs::File, _: u32) -> io::Result<()> {
    Ok(())
}

/// Copies the files beside a skill to a folder. Links out of the skill's folder are refused, because they
/// would expose other files.
pub(super) fn copy_siblings(
    loaded: &LoadedSkill,
    to: &Path,
) -> (Vec<PlannedFile>, Vec<FileRefusal>) {
    let from = loaded.path.parent().unwrap_or(Path::new("."));
    let (mut files, mut refused) = (Vec::new(), Vec::new());
    for sibling in &loaded.siblings {
        let path = from.join(&sibling.path);
        let copied = match leads_outside(&path, from) {
            Ok(true) => Err("it is a link that leads out of the skill's folder".to_owned()),
            Ok(false) => PlannedFile::copy(&path, to.join(&sibling.path))
                .map_err(|problem| format!("cannot be read: {problem}")),
            Err(problem) => Err(format!("cannot be read: {problem}")),
        };
        match copied {
            Ok(file) => files.push(file),
            Err(reason) => refused.push(FileRefusal::new(&path, reason)),
        }
    }
    (files, refused)
}

fn leads_outside(path: &Path, folder: &Path) -> io::Result<bool> {
    Ok(!path.canonicalize()?.starts_with(folder.canonicalize()?))
}

/// Why files cannot be written.
#[derive(Debug)]
pub(super) struct Conflict {
    pub reason: String,
    /// Whether `--force` permits it.
    pub force_helps: bool,
}

/// Returns the first reason not to write the files.
pub(super) fn conflict(planned: &[PlannedFile], force: bool) -> Option<Conflict> {
    planned.iter().find_map(|file| {
        let what = match file.effect() {
            Effect::New | Effect::Same => return None,
            Effect::Replaces if force => return None,
            Effect::Blocked => {
                "cannot be written: its path is taken by something that is not a regular file"
            }
            Effect::Replaces if !file.runs_alike() => "exists and has other permissions or content",
            Effect::Replaces => "exists and has other content",
        };
        Some(Conflict {
            reason: format!("`{}` {what}", file.path.display()),
            force_helps: !force && file.effect() == Effect::Replaces,
        })
    })
}

/// Fails if a file would be replaced and `force` is not set.
pub(super) fn check_conflicts(planned: &[PlannedFile], force: bool) -> Done<()> {
    conflict(planned, force).map_or(Ok(()), |found| {
        let hint = if found.force_helps {
            "`--force` replaces it"
        } else {
            "move it away"
        };
        Err(Failure::input("exists", found.reason).hint(hint))
    })
}
