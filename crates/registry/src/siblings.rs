//! The files around a `SKILL.md`.

use std::fs;
use std::path::{Path, PathBuf};

use deft_model::SiblingFile;

use crate::digest::digest_file;
use crate::scan::SKIPPED;
use crate::stamp::Stamp;
use crate::unit::Loaded;

/// The most files that are listed for one skill; folders with more are not
/// skills but checkouts.
const MAX_FILES: usize = 4096;

/// How deep below a skill its files may be.
const MAX_DEPTH: usize = 8;

/// What is below the folder of a skill.
#[derive(Default)]
pub(crate) struct Around {
    /// Files that belong to the skill, with what they looked like, by path.
    pub files: Vec<(String, Stamp)>,
    /// Folders with a `SKILL.md` of their own, by path.
    pub skill_folders: Vec<PathBuf>,
}

/// Looks at what lies beside a `SKILL.md`, without reading any content. What
/// is right beside it has been listed already.
pub(crate) fn collect(files: &[PathBuf], folders: &[PathBuf]) -> Around {
    let mut around = Around::default();
    files.iter().for_each(|path| around.add_file(path, ""));
    folders
        .iter()
        .for_each(|path| around.add_folder(path, "", 1));
    around.files.sort_by(|a, b| a.0.cmp(&b.0));
    around.skill_folders.sort();
    around
}

impl Around {
    fn add_file(&mut self, path: &Path, prefix: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if self.files.len() < MAX_FILES
            && let Ok(metadata) = path.metadata()
            && metadata.is_file()
        {
            self.files
                .push((format!("{prefix}{name}"), Stamp::of(&metadata)));
        }
    }

    /// Links to folders are not followed: they may lead anywhere.
    fn add_folder(&mut self, path: &Path, prefix: &str, depth: usize) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if depth > MAX_DEPTH || path.is_symlink() || SKIPPED.contains(&name.as_ref()) {
            return;
        }
        if has_skill_md(path) {
            self.skill_folders.push(path.to_path_buf());
            return;
        }
        let Ok(entries) = fs::read_dir(path) else {
            return;
        };
        let prefix = format!("{prefix}{name}/");
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.add_folder(&entry.path(), &prefix, depth + 1),
                Ok(_) => self.add_file(&entry.path(), &prefix),
                Err(_) => {}
            }
        }
    }
}

fn has_skill_md(folder: &Path) -> bool {
    ["SKILL.md", "skill.md"]
        .iter()
        .any(|name| folder.join(name).exists())
}

/// Hashes the files; those that look as they did before keep their hash.
pub(crate) fn hash(
    folder: &Path,
    files: &[(String, Stamp)],
    old: Option<(&Loaded, &[(String, Stamp)])>,
    max_bytes: u64,
) -> Vec<SiblingFile> {
    let known = |path: &str, stamp: &Stamp| {
        let (loaded, stamps) = old?;
        stamps.iter().find(|(p, s)| p == path && s == stamp)?;
        loaded
            .siblings
            .iter()
            .find(|file| file.path == path)
            .cloned()
    };
    let sibling = |(path, stamp): &(String, Stamp)| {
        known(path, stamp).unwrap_or_else(|| SiblingFile {
            path: path.clone(),
            size_bytes: stamp.size_bytes,
            sha256: (stamp.size_bytes <= max_bytes)
                .then(|| digest_file(&folder.join(path)).ok())
                .flatten(),
        })
    };
    files.iter().map(sibling).collect()
}
