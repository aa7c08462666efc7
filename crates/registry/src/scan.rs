//! Reads one folder: which files define something, and which folders below
//! are to be read on their own.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_skillfile::{Diagnostic, FileKind, Moment, Rule};

use crate::file::read_regular;
use crate::load::{Job, load};
use crate::options::Options;
use crate::siblings;
use crate::stamp::{FolderId, folder_id};
use crate::unit::{Defines, Outcome, Unit};

/// Folders that never hold skills.
pub(crate) const SKIPPED: &[&str] = &[".git", "node_modules"];

/// What all folders of one scan share.
pub(crate) struct Survey<'a> {
    pub options: &'a Options,
    pub moment: &'a Moment,
    /// Files that are read again even if they look unchanged, because an event
    /// named them.
    pub forced: &'a HashSet<PathBuf>,
}

/// A folder that is to be read.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    pub path: PathBuf,
    /// How far below its root it is.
    pub depth: usize,
    /// The domain that applies to its files.
    pub domain: Option<Arc<str>>,
    /// The folders above it, to notice loops.
    pub above: Arc<Vec<FolderId>>,
}

/// A folder as it was read.
#[derive(Debug)]
pub(crate) struct Folder {
    pub visit: Visit,
    /// The files in it that define something, or should.
    pub units: Vec<Unit>,
    /// The folders below it that are read on their own.
    pub children: Vec<PathBuf>,
    /// Whether it is the folder of one skill, which owns everything below.
    pub is_skill: bool,
    /// What is wrong with the folder itself.
    pub problems: Vec<Diagnostic>,
}

/// The names in a folder that matter, sorted.
#[derive(Default)]
struct Listing {
    skill_md: Option<PathBuf>,
    /// Files that may define something.
    files: Vec<PathBuf>,
    /// Files that can only belong to a skill.
    others: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

/// Reads one folder and says which folders below it to read next. `old` is how
/// it was last time; what did not change is kept.
pub(crate) fn scan(
    survey: &Survey<'_>,
    visit: Visit,
    old: Option<&Folder>,
) -> (Folder, Vec<Visit>) {
    let mut folder = Folder {
        visit,
        units: Vec::new(),
        children: Vec::new(),
        is_skill: false,
        problems: Vec::new(),
    };
    let Some(above) = enter(survey, &mut folder) else {
        return (folder, Vec::new());
    };
    let listing = match list(&folder.visit.path) {
        Ok(listing) => listing,
        Err(problem) => {
            folder.problems.push(unreadable(&problem));
            return (folder, Vec::new());
        }
    };
    fill(survey, &mut folder, listing, old);
    let domain = domain_below(&folder);
    let next = |path: &PathBuf| Visit {
        path: path.clone(),
        depth: folder.visit.depth + 1,
        domain: domain.clone().or_else(|| file_name(path).map(Arc::from)),
        above: Arc::clone(&above),
    };
    let visits = folder.children.iter().map(next).collect();
    (folder, visits)
}

/// Checks that the folder may be entered, and returns the path of identities
/// that leads to it.
fn enter(survey: &Survey<'_>, folder: &mut Folder) -> Option<Arc<Vec<FolderId>>> {
    let id = match folder_id(&folder.visit.path) {
        Ok(id) => id,
        Err(problem) => {
            folder.problems.push(unreadable(&problem));
            return None;
        }
    };
    if folder.visit.above.contains(&id) {
        let message = "the folder is a link to one that contains it; it is not followed";
        folder
            .problems
            .push(Diagnostic::new(Rule::SymlinkLoop, message));
        return None;
    }
    if folder.visit.depth > survey.options.max_depth {
        let message = format!(
            "folders deeper than {} levels are not read",
            survey.options.max_depth
        );
        folder
            .problems
            .push(Diagnostic::new(Rule::NestedTooDeep, message));
        return None;
    }
    let mut above = folder.visit.above.as_ref().clone();
    above.push(id);
    Some(Arc::new(above))
}

fn unreadable(problem: &std::io::Error) -> Diagnostic {
    Diagnostic::new(Rule::Unreadable, format!("cannot be read: {problem}"))
}

fn list(path: &Path) -> std::io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let kind = entry.file_type()?;
        // A link counts as what it leads to; one that leads nowhere is kept as
        // a file, so that its trouble is reported when it is read.
        let is_folder = kind.is_dir() || (kind.is_symlink() && entry.path().is_dir());
        if is_folder {
            if !SKIPPED.contains(&name.as_ref()) {
                listing.folders.push(entry.path());
            }
            continue;
        }
        match FileKind::of(&name) {
            Some(FileKind::SkillMd) if name == "SKILL.md" || listing.skill_md.is_none() => {
                listing
                    .others
                    .extend(listing.skill_md.replace(entry.path()));
            }
            Some(FileKind::Markdown | FileKind::Workflow) => listing.files.push(entry.path()),
            Some(FileKind::SkillMd | FileKind::Record) | None => listing.others.push(entry.path()),
        }
    }
    listing.files.sort();
    listing.folders.sort();
    Ok(listing)
}

fn fill(survey: &Survey<'_>, folder: &mut Folder, listing: Listing, old: Option<&Folder>) {
    let known = |path: &Path| old.and_then(|old| old.units.iter().find(|unit| *unit.path == *path));
    let mut job = Job {
        survey,
        domain: folder.visit.domain.clone(),
        siblings: Vec::new(),
    };
    if let Some(skill_md) = &listing.skill_md {
        let beside: Vec<PathBuf> = [listing.files.as_slice(), &listing.others].concat();
        let around = siblings::collect(&beside, &listing.folders);
        job.siblings = around.files;
        let unit = load(&job, skill_md, known(skill_md));
        job.siblings.clear();
        folder.is_skill = owns_folder(&unit, old, survey.options.max_file_bytes);
        if let Outcome::Good(Defines::Domain(index)) | Outcome::Broken(Some(Defines::Domain(index))) =
            &unit.outcome
            && folder.visit.depth > 0
        {
            job.domain = Some(Arc::from(index.domain.as_str()));
        }
        folder.units.push(unit);
        if folder.is_skill {
            folder.children = around.skill_folders;
            return;
        }
    }
    folder.children = listing.folders;
    let units = listing
        .files
        .iter()
        .map(|path| load(&job, path, known(path)));
    folder.units.extend(units);
}

/// Whether a `SKILL.md` makes its folder that of one skill. A broken one does,
/// unless its text says that it is the index of a domain, or it has turned up
/// among pages that were there before: then it is most likely half written.
fn owns_folder(unit: &Unit, old: Option<&Folder>, max_bytes: u64) -> bool {
    match &unit.outcome {
        Outcome::Good(Defines::Domain(_)) | Outcome::Broken(Some(Defines::Domain(_))) => false,
        Outcome::Broken(None) => {
            let among_pages = old.is_some_and(|old| !old.is_skill && !old.units.is_empty());
            !among_pages && !looks_like_index(&unit.path, max_bytes)
        }
        Outcome::Good(Defines::Skill(_))
        | Outcome::Broken(Some(Defines::Skill(_)))
        | Outcome::Ignored => true,
    }
}

fn looks_like_index(path: &Path, max_bytes: u64) -> bool {
    let bytes = read_regular(path, max_bytes).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let head: Vec<&str> = text.lines().take(20).collect();
    let has = |key: &str| head.iter().any(|line| line.starts_with(key));
    has("domain:") && !has("name:")
}

/// The domain of the folders below: an index may rename it (S2.13), and at the
/// root each folder is a domain of its own.
fn domain_below(folder: &Folder) -> Option<Arc<str>> {
    if folder.visit.depth == 0 {
        return None;
    }
    let index = folder
        .units
        .iter()
        .find_map(|unit| match unit.outcome.live() {
            Some(Defines::Domain(index)) => Some(Arc::from(index.domain.as_str())),
            Some(Defines::Skill(_)) | None => None,
        });
    index.or_else(|| folder.visit.domain.clone())
}

pub(crate) fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}
