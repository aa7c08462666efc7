//! Listing of one folder, with names sorted by their role.

use std::collections::HashMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use deft_skillfile::{Diagnostic, FileKind, Rule, Severity};

use crate::territory::AllowedFolders;

/// Folders that never contain skills.
pub(crate) const SKIPPED: &[&str] = &[".git", "node_modules"];

/// The relevant names in a folder; each list is sorted by path.
#[derive(Default)]
pub(crate) struct Listing {
    pub skill_md: Option<PathBuf>,
    pub agent_md: Option<PathBuf>,
    /// Files that may define a skill.
    pub files: Vec<PathBuf>,
    /// Files that can only belong to a skill.
    pub others: Vec<PathBuf>,
    pub folders: Vec<PathBuf>,
    /// Files of these lists that must not be opened, and why.
    pub refused: HashMap<PathBuf, Diagnostic>,
    /// Other entries that are not read, and why, by path.
    pub left_out: Vec<(PathBuf, Diagnostic)>,
    pub problems: Vec<Diagnostic>,
}

/// Maximum number of names in one folder; a folder with more does not contain skills.
const MAX_NAMES: usize = 100_000;

/// Lists a folder. Entries that cannot be inspected are skipped.
pub(crate) fn list(path: &Path, territory: &AllowedFolders) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut entries = fs::read_dir(path)?.flatten();
    for entry in entries.by_ref().take(MAX_NAMES) {
        match (entry.file_name().to_str(), territory.refuse(&entry)) {
            (None, _) => listing.refuse_name(&entry),
            (Some(name), Some(_)) if is_litter(name) => {}
            (Some(name), Some(problem)) => listing.refuse(&entry, name, problem),
            (Some(name), None) => listing.add(&entry, name),
        }
    }
    if entries.next().is_some() {
        let message =
            format!("more than {MAX_NAMES} names are in this folder; the rest is not read");
        listing
            .problems
            .push(Diagnostic::new(Rule::TooLarge, message));
    }
    listing.files.sort();
    listing.others.sort();
    listing.folders.sort();
    listing.left_out.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(listing)
}

impl Listing {
    fn add(&mut self, entry: &DirEntry, name: &str) {
        if is_folder(entry) {
            if !SKIPPED.contains(&name) {
                self.folders.push(entry.path());
            }
            return;
        }
        if is_litter(name) {
            return;
        }
        match FileKind::from_name(name) {
            Some(FileKind::SkillMd) if name == "SKILL.md" || self.skill_md.is_none() => {
                self.others.extend(self.skill_md.replace(entry.path()));
            }
            Some(FileKind::AgentMd) => {
                self.agent_md = Some(entry.path());
                self.others.push(entry.path());
            }
            Some(FileKind::Markdown | FileKind::Workflow) => self.files.push(entry.path()),
            Some(FileKind::SkillMd | FileKind::Record) | None => self.others.push(entry.path()),
        }
    }

    /// Adds an entry that must not be opened. A file that should define a skill stays in the lists, so that
    /// it is reported as broken; other entries are left out with a warning.
    fn refuse(&mut self, entry: &DirEntry, name: &str, mut problem: Diagnostic) {
        if FileKind::from_name(name).is_some() && !entry.path().is_dir() {
            problem.severity = Severity::Error;
            self.refused.insert(entry.path(), problem);
            self.add(entry, name);
        } else {
            self.left_out.push((entry.path(), problem));
        }
    }

    /// Reports a name that is not UTF-8; ids are text, so it cannot be one.
    fn refuse_name(&mut self, entry: &DirEntry) {
        let name = entry.file_name();
        let message = format!(
            "the name `{}` in this folder is not UTF-8; it is not read",
            name.to_string_lossy()
        );
        self.problems
            .push(Diagnostic::new(Rule::NotUtf8, message).with_help("rename it"));
    }
}

/// Whether an entry is a folder, or a link to one. A dangling link counts as a file, so that the problem is
/// reported when it is read.
fn is_folder(entry: &DirEntry) -> bool {
    entry
        .file_type()
        .is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && entry.path().is_dir()))
}

/// Whether a name is a temporary file of an editor or system. Such files come and go and must not affect a
/// revision.
pub(crate) fn is_litter(name: &str) -> bool {
    const NAMES: &[&str] = &[
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "__pycache__",
        "4913",
    ];
    let hidden = name.starts_with('.');
    let ends = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
    NAMES.contains(&name)
        || ends("~")
        || ends(".pyc")
        || name.starts_with(".#")
        || (name.starts_with('#') && ends("#"))
        || (hidden && (ends(".swp") || ends(".swx") || ends(".swo") || ends(".tmp")))
}
