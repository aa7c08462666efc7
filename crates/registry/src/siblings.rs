//! The files next to a `SKILL.md`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use deft_model::SiblingFile;
use deft_skillfile::{Diagnostic, Rule, Severity};

use crate::digest::digest_file;
use crate::list::{Listing, is_litter, list};
use crate::stamp::Stamp;
use crate::territory::AllowedFolders;
use crate::unit::LoadedSkill;

/// Maximum number of files listed for one skill; a folder with more is a checkout and not a skill.
const MAX_FILES: usize = 4096;

/// Maximum depth of files below a skill.
const MAX_DEPTH: usize = 8;

/// The contents of a skill's folder.
#[derive(Default)]
pub(crate) struct SkillFolderContents {
    /// Files that belong to the skill, with their stamps, by path.
    pub files: Vec<(String, Stamp)>,
    /// Folders that contain them.
    pub folders: Vec<PathBuf>,
    /// Folders with their own `SKILL.md`, by path.
    pub skill_folders: Vec<PathBuf>,
    /// Files and folders that are not read, and why.
    pub left_out: Vec<(PathBuf, Diagnostic)>,
    /// Set if a limit was reached.
    pub problem: Option<Diagnostic>,
}

/// Maximum number of unread files reported for one skill.
const MAX_LEFT_OUT: usize = 100;

/// Collects the files next to a `SKILL.md` without reading their content. `files` and `folders` are the
/// entries of the skill's own folder.
pub(crate) fn collect(
    files: &[PathBuf],
    folders: &[PathBuf],
    territory: &AllowedFolders,
) -> SkillFolderContents {
    let mut around = SkillFolderContents::default();
    files.iter().for_each(|path| around.add_file(path, ""));
    folders
        .iter()
        .for_each(|path| around.add_folder(path, "", 1, territory));
    around.files.sort_by(|a, b| a.0.cmp(&b.0));
    around.skill_folders.sort();
    around.left_out.sort_by(|a, b| a.0.cmp(&b.0));
    around
}

impl SkillFolderContents {
    fn add_file(&mut self, path: &Path, prefix: &str) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return;
        };
        let Some(metadata) = path.metadata().ok().filter(std::fs::Metadata::is_file) else {
            return;
        };
        if self.files.len() < MAX_FILES {
            self.files
                .push((format!("{prefix}{name}"), Stamp::from_metadata(&metadata)));
        } else {
            self.leave_out(&format!("more than {MAX_FILES} files belong to the skill"));
        }
    }

    /// Links to folders are not followed: they may lead anywhere.
    fn add_folder(&mut self, path: &Path, prefix: &str, depth: usize, territory: &AllowedFolders) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_symlink() || is_litter(&name) {
            return;
        }
        let Ok(listing) = list(path, territory) else {
            self.leave_out(&format!("`{prefix}{name}` cannot be read"));
            return;
        };
        if listing.skill_md.is_some() {
            self.skill_folders.push(path.to_path_buf());
        } else if depth > MAX_DEPTH {
            self.leave_out(&format!("`{prefix}{name}` is nested too deep"));
        } else {
            self.folders.push(path.to_path_buf());
            self.add_listing(&listing, &format!("{prefix}{name}/"), depth, territory);
        }
    }

    fn add_listing(
        &mut self,
        listing: &Listing,
        prefix: &str,
        depth: usize,
        territory: &AllowedFolders,
    ) {
        let refused = listing
            .refused
            .iter()
            .map(|(path, why)| (path.clone(), warning(why)));
        let room = MAX_LEFT_OUT.saturating_sub(self.left_out.len());
        let all = listing.left_out.iter().cloned().chain(refused);
        self.left_out.extend(all.take(room));
        let files = listing.files.iter().chain(&listing.others);
        files
            .filter(|path| !listing.refused.contains_key(*path))
            .for_each(|path| self.add_file(path, prefix));
        listing
            .folders
            .iter()
            .for_each(|path| self.add_folder(path, prefix, depth + 1, territory));
    }

    fn leave_out(&mut self, reason: &str) {
        if self.problem.is_none() {
            let problem = Diagnostic::new(Rule::TooLarge, format!("{reason}; the rest is ignored"))
                .with_help("ignored files are not part of the skill's revision");
            self.problem = Some(warning(&problem));
        }
    }
}

/// Lowers a problem to a warning: a bad sibling file is no reason to reject the skill.
pub(crate) fn warning(problem: &Diagnostic) -> Diagnostic {
    let mut problem = problem.clone();
    problem.severity = problem.severity.min(Severity::Warning);
    problem
}

/// Hashes the files. Files with an unchanged stamp keep their hash, unless an event named them.
pub(crate) fn hash(
    folder: &Path,
    files: &[(String, Stamp)],
    old: Option<(&LoadedSkill, &[(String, Stamp)])>,
    forced: &HashSet<PathBuf>,
    max_bytes: u64,
) -> Vec<SiblingFile> {
    let stamps: HashMap<&str, &Stamp> = old
        .iter()
        .flat_map(|(_, stamps)| *stamps)
        .map(|(path, stamp)| (path.as_str(), stamp))
        .collect();
    let hashes: HashMap<&str, &SiblingFile> = old
        .iter()
        .flat_map(|(loaded, _)| &loaded.siblings)
        .map(|file| (file.path.as_str(), file))
        .collect();
    let sibling = |(path, stamp): &(String, Stamp)| {
        let full = folder.join(path);
        let same = stamps.get(path.as_str()) == Some(&stamp) && !forced.contains(&full);
        let known = hashes.get(path.as_str()).filter(|_| same);
        known.map_or_else(
            || SiblingFile {
                path: path.clone(),
                size_bytes: stamp.size_bytes,
                sha256: (stamp.size_bytes <= max_bytes)
                    .then(|| digest_file(&full).ok())
                    .flatten(),
            },
            |known| (*known).clone(),
        )
    };
    files.iter().map(sibling).collect()
}
