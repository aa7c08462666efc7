//! Which paths a tool may touch.
//!
//! A path is inside an allowed folder after every link in it has been
//! followed, or it is refused; `..` is refused before that, so that a message
//! never tells what exists outside.

use std::path::{Component, Path, PathBuf};

use deft_model::{Failure, FailureClass};

use super::invalid;
use crate::options::FileOptions;

/// The real path behind something that exists.
pub(super) fn existing(options: &FileOptions, given: &str) -> Result<PathBuf, Failure> {
    let path = candidate(options, given)?;
    let real = path.canonicalize().map_err(|error| io(given, &error))?;
    inside(options, given, real)
}

/// The real path for something that may not exist yet.
pub(super) fn creatable(options: &FileOptions, given: &str) -> Result<PathBuf, Failure> {
    let path = candidate(options, given)?;
    // A link is followed, so that what is written is what was allowed.
    if path.symlink_metadata().is_ok() {
        return existing(options, given);
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(invalid(format!("`{given}` is not the path of a file")));
    };
    let parent = parent.canonicalize().map_err(|error| io(given, &error))?;
    inside(options, given, parent.join(name))
}

/// The path as given, made absolute; relative paths start in the first folder.
fn candidate(options: &FileOptions, given: &str) -> Result<PathBuf, Failure> {
    let Some(first) = options.folders.first() else {
        return Err(Failure::new(
            FailureClass::NotFound,
            "no folder is open to the `file` tools",
        )
        .hint("list folders in `tools.file.folders`")
        .blocked());
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
    let allowed = options
        .folders
        .iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .any(|folder| real.starts_with(folder));
    if allowed {
        return Ok(real);
    }
    Err(invalid(format!(
        "the path `{given}` is outside the folders that are open"
    ))
    .hint("list its folder in `tools.file.folders`"))
}

/// The failure behind an error of the file system.
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
