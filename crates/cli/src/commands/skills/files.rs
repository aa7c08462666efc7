//! Writes files without surprises: nothing is overwritten unasked, and a file
//! is there whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::failure::{Done, Failure};
use crate::home::create_folder;

/// A file that is to be written.
#[derive(Debug)]
pub(super) struct Planned {
    pub path: PathBuf,
    pub content: Vec<u8>,
}

/// What writing a file would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It is new.
    New,
    /// It is there with the same content.
    Same,
    /// It is there with other content.
    Replaces,
}

impl Planned {
    pub(super) fn effect(&self) -> Effect {
        match fs::read(&self.path) {
            Ok(content) if content == self.content => Effect::Same,
            Ok(_) => Effect::Replaces,
            Err(_) => Effect::New,
        }
    }

    /// Writes the file beside its place and moves it there, so that whoever
    /// watches the folder never sees half of it.
    pub(super) fn write(&self) -> Done<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.join(format!(".{name}.{}.tmp", std::process::id()));
        let fail = |problem: std::io::Error| Failure::file(&self.path, "write", &problem);
        let mut file = fs::File::create(&draft).map_err(fail)?;
        file.write_all(&self.content).map_err(fail)?;
        file.sync_all().map_err(fail)?;
        fs::rename(&draft, &self.path).map_err(fail)
    }
}

/// Refuses to replace anything unless told to.
pub(super) fn check_conflicts(planned: &[Planned], force: bool) -> Done<()> {
    let conflict = planned
        .iter()
        .find(|file| file.effect() == Effect::Replaces);
    match conflict {
        Some(file) if !force => {
            let message = format!("`{}` exists and has other content", file.path.display());
            Err(Failure::input("exists", message).hint("`--force` replaces it"))
        }
        _ => Ok(()),
    }
}
