//! Search for `SKILL.md` files below a folder, without reading them.

use std::fs;
use std::path::{Path, PathBuf};

use deft_skillfile::FileKind;
use rayon::prelude::*;

use crate::list::SKIPPED;

/// Maximum depth of the search; also ends loops of links.
const MAX_DEPTH: usize = 24;

/// Returns the paths of all `SKILL.md` or `skill.md` files below a folder, including hidden folders, sorted.
/// If a folder contains both, `SKILL.md` takes precedence.
pub fn skill_mds(folder: &Path) -> Vec<PathBuf> {
    let mut found = walk(folder, 0);
    found.sort();
    found
}

fn walk(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut folders = Vec::new();
    let mut skill_md: Option<PathBuf> = None;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        // Links to folders are not followed: a check stays below its folder.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if !SKIPPED.contains(&name) && depth < MAX_DEPTH {
                folders.push(entry.path());
            }
        } else if FileKind::from_name(name) == Some(FileKind::SkillMd)
            && (name == "SKILL.md" || skill_md.is_none())
        {
            skill_md = Some(entry.path());
        }
    }
    let mut found: Vec<PathBuf> = match folders.as_slice() {
        [] => Vec::new(),
        [only] => walk(only, depth + 1),
        many => many
            .par_iter()
            .flat_map_iter(|folder| walk(folder, depth + 1))
            .collect(),
    };
    found.extend(skill_md);
    found
}
