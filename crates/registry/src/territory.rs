//! The folders that links may lead into: the folder itself and the other folders of skills and agents in the
//! configuration.
//!
//! Any other link could make a file part of a skill that was not meant to be shared: keys, mail, the state of
//! the system. Not here: limits on loops and depth (`scan.rs`).

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use deft_skillfile::{Diagnostic, Rule};

use crate::file::{is_system, special};
use crate::options::Options;

/// The folders that links may lead into.
#[derive(Debug)]
pub(crate) struct AllowedFolders {
    /// The canonical paths.
    folders: Vec<PathBuf>,
}

impl AllowedFolders {
    pub(crate) fn new(options: &Options) -> Self {
        let real = options
            .followed_folders()
            .filter_map(|root| root.canonicalize().ok());
        Self {
            folders: real.collect(),
        }
    }

    /// Returns why an entry of a folder must not be read, or `None` if it may be.
    pub(crate) fn refuse(&self, entry: &DirEntry) -> Option<Diagnostic> {
        let kind = entry.file_type().ok()?;
        if let Some(what) = special(kind) {
            return Some(special_file(what));
        }
        if kind.is_symlink() {
            return self.refuse_link(&entry.path());
        }
        None
    }

    fn refuse_link(&self, path: &Path) -> Option<Diagnostic> {
        // A dangling link is reported when it is read.
        let real = path.canonicalize().ok()?;
        if let Some(what) = real
            .metadata()
            .ok()
            .and_then(|found| special(found.file_type()))
        {
            return Some(special_file(what));
        }
        let inside = self.folders.iter().any(|folder| real.starts_with(folder));
        if inside && !is_system(&real) {
            return None;
        }
        let message = format!(
            "it is a link to `{}`, which is outside the folders of skills and agents; it is not followed",
            real.display()
        );
        let help = if is_system(&real) {
            "remove the link: files of the system are never read"
        } else {
            "move the target here, or add its folder to `paths` under `[skills]` in `config.toml`"
        };
        Some(Diagnostic::new(Rule::LinkOutside, message).with_help(help))
    }
}

fn special_file(what: &str) -> Diagnostic {
    let message = format!("it is {what}, not a regular file; it is not read");
    Diagnostic::new(Rule::SpecialFile, message)
        .with_help("remove it, or put a regular file in its place")
}
