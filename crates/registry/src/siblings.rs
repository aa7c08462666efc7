//! The files around a `SKILL.md`.

use std::fs;
use std::path::{Path, PathBuf};

use deft_model::SiblingFile;

use crate::digest::digest_file;
use crate::stamp::Stamp;
use crate::unit::Loaded;

/// The most files that are listed for one skill; folders with more are not
/// skills but checkouts.
const MAX_FILES: usize = 4096;

/// What is below the folder of a skill.
#[derive(Default)]
pub(crate) struct Around {
    /// Files that belong to the skill, with what they looked like.
    pub files: Vec<(String, Stamp)>,
    /// Folders with a `SKILL.md` of their own.
    pub skill_folders: Vec<PathBuf>,
}

/// Lists what is below the folder of a skill, without reading any content.
pub(crate) fn collect(folder: &Path, skill_md: &Path) -> Around {
    let mut around = Around::default();
    walk(folder, "", skill_md, 0, &mut around);
    around.files.sort_by(|a, b| a.0.cmp(&b.0));
    around
}

fn walk(folder: &Path, prefix: &str, skill_md: &Path, depth: usize, around: &mut Around) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path == skill_md || around.files.len() >= MAX_FILES {
            continue;
        }
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            if matches!(name.as_ref(), ".git" | "node_modules") || depth > 8 {
                continue;
            }
            if has_skill_md(&path) {
                around.skill_folders.push(path);
                continue;
            }
            walk(
                &path,
                &format!("{prefix}{name}/"),
                skill_md,
                depth + 1,
                around,
            );
            continue;
        }
        // Links to folders are not followed: they may lead anywhere.
        if let Ok(metadata) = path.metadata()
            && metadata.is_file()
        {
            around
                .files
                .push((format!("{prefix}{name}"), Stamp::of(&metadata)));
        }
    }
    if depth == 0 {
        around.skill_folders.sort();
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
