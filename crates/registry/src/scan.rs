//! Reading of one folder: its files that define skills, and subfolders to read separately.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_skillfile::{Diagnostic, Rule};

use crate::agents;
use crate::file::{file_name, is_on_system_device, read_regular};
use crate::list::{Listing, list};
use crate::load::{FolderContext, load, refusal};
use crate::options::MAX_FILE_BYTES;
use crate::siblings;
use crate::stamp::{FolderId, folder_id};
use crate::survey::{Folder, Survey, Visit};
use crate::unit::{Definition, Outcome, Unit};

/// Maximum number of links on one path; each link multiplies the number of paths.
const MAX_LINKS: usize = 3;

/// Reads one folder and returns the subfolders to read next. `old` is the previous state; unchanged parts are
/// kept.
pub(crate) fn scan(
    survey: &Survey<'_>,
    visit: Visit,
    old: Option<&Folder>,
) -> (Folder, Vec<Visit>) {
    let mut folder = Folder {
        visit,
        units: Vec::new(),
        children: Vec::new(),
        inner: Vec::new(),
        has_skill_md: false,
        is_skill: false,
        below: None,
        problems: Vec::new(),
        left_out: Vec::new(),
    };
    match enter(survey, &folder.visit) {
        Ok((above, listing)) => {
            folder.problems.extend(listing.problems.iter().cloned());
            folder.left_out.extend(listing.left_out.iter().cloned());
            fill(survey, &mut folder, &listing, old);
            folder.below = domain_below(&folder);
            let visits = folder
                .children
                .iter()
                .filter(|path| !survey.options.is_root(path));
            let visits = visits.map(|path| next(&folder, path, &above)).collect();
            (folder, visits)
        }
        Err(problem) => {
            keep(&mut folder, old, &problem);
            folder.problems.push(problem);
            (folder, Vec::new())
        }
    }
}

/// Keeps the previous contents of a folder that is temporarily unreadable.
fn keep(folder: &mut Folder, old: Option<&Folder>, problem: &Diagnostic) {
    let for_now = matches!(problem.rule, Rule::Unreadable | Rule::TooManyFolders);
    if let Some(old) = old.filter(|_| for_now) {
        folder.units.clone_from(&old.units);
        folder.has_skill_md = old.has_skill_md;
        folder.is_skill = old.is_skill;
        folder.below.clone_from(&old.below);
    }
}

fn next(folder: &Folder, path: &Path, above: &Arc<Vec<FolderId>>) -> Visit {
    Visit {
        path: path.to_path_buf(),
        root: Arc::clone(&folder.visit.root),
        depth: folder.visit.depth + 1,
        links: folder.visit.links + usize::from(path.is_symlink()),
        domain: folder
            .below
            .clone()
            .or_else(|| file_name(path).map(Arc::from)),
        above: Arc::clone(above),
    }
}

/// Checks that the folder may be read, and lists it. Also returns the ids of all folders on the path,
/// including this one.
fn enter(survey: &Survey<'_>, visit: &Visit) -> Result<(Arc<Vec<FolderId>>, Listing), Diagnostic> {
    let metadata = visit.path.metadata().map_err(|problem| refusal(&problem))?;
    if is_on_system_device(&metadata) {
        let message = "the folder belongs to the system; it is not read";
        return Err(Diagnostic::new(Rule::SpecialFile, message));
    }
    let id = folder_id(&visit.path).map_err(|problem| refusal(&problem))?;
    if visit.above.contains(&id) {
        let message = "the folder is a link to one that contains it; it is not followed";
        return Err(Diagnostic::new(Rule::SymlinkLoop, message));
    }
    if visit.links > MAX_LINKS {
        let message = format!(
            "more than {MAX_LINKS} symbolic links in the path of the folder; it is not followed"
        );
        return Err(Diagnostic::new(Rule::SymlinkLoop, message));
    }
    if visit.depth > survey.options.max_depth {
        let message = format!(
            "folders deeper than {} levels are not read",
            survey.options.max_depth
        );
        return Err(Diagnostic::new(Rule::NestedTooDeep, message));
    }
    survey.count(visit)?;
    let listing = list(&visit.path, &survey.territory).map_err(|problem| refusal(&problem))?;
    let mut above = visit.above.as_ref().clone();
    above.push(id);
    Ok((Arc::new(above), listing))
}

fn fill(survey: &Survey<'_>, folder: &mut Folder, listing: &Listing, old: Option<&Folder>) {
    let units = old.iter().flat_map(|old| &old.units);
    let known: HashMap<&Path, &Unit> = units.map(|unit| (&*unit.path, unit)).collect();
    let mut context = FolderContext {
        survey,
        domain: folder.visit.domain.clone(),
        siblings: Vec::new(),
        refused: &listing.refused,
    };
    if survey
        .options
        .agents
        .iter()
        .any(|root| **root == *folder.visit.root)
    {
        agents::fill(&context, folder, listing, &known);
        return;
    }
    let is_refused = |path: &PathBuf| listing.refused.contains_key(path);
    folder.has_skill_md = listing.skill_md.is_some();
    if let Some(skill_md) = &listing.skill_md {
        let beside = listing.files.iter().chain(&listing.others);
        let beside: Vec<PathBuf> = beside.filter(|path| !is_refused(path)).cloned().collect();
        let around = siblings::collect(&beside, &listing.folders, &survey.territory);
        folder.problems.extend(around.problem);
        folder.left_out.extend(around.left_out);
        context.siblings = around.files;
        let unit = load(&context, skill_md, known.get(skill_md.as_path()).copied());
        context.siblings.clear();
        folder.is_skill =
            is_refused(skill_md) || owns_folder(&unit, listing, survey.options.max_file_bytes);
        if let Some(Definition::Domain(index)) = unit.outcome.live()
            && folder.visit.depth > 0
        {
            context.domain = Some(Arc::from(index.domain.as_str()));
        }
        folder.units.push(unit);
        if folder.is_skill {
            folder
                .problems
                .extend(hidden_pages(&folder.visit.path, &beside));
            let refused = listing.refused.iter().filter(|(path, _)| *path != skill_md);
            let refused = refused.map(|(path, why)| (path.clone(), siblings::warning(why)));
            folder.left_out.extend(refused);
            folder.left_out.sort_by(|a, b| a.0.cmp(&b.0));
            folder.children = around.skill_folders;
            folder.inner = around.folders;
            return;
        }
    }
    folder.children.clone_from(&listing.folders);
    let units = listing
        .files
        .iter()
        .map(|path| load(&context, path, known.get(path.as_path()).copied()));
    folder.units.extend(units);
}

/// Whether a `SKILL.md` makes the whole folder one skill. A broken one does, unless its text looks like the
/// index of a domain, or it is empty next to other pages and therefore most likely half written.
fn owns_folder(unit: &Unit, listing: &Listing, max_bytes: u64) -> bool {
    match &unit.outcome {
        Outcome::Good(Definition::Domain(_) | Definition::Agent(_))
        | Outcome::Broken(Some(Definition::Domain(_) | Definition::Agent(_))) => false,
        Outcome::Broken(None) => {
            let bytes = read_regular(&unit.path, max_bytes).unwrap_or_default();
            let half_written = bytes.is_empty() && !listing.files.is_empty();
            !half_written && !looks_like_index(&bytes)
        }
        Outcome::Good(Definition::Skill(_)) | Outcome::Broken(Some(Definition::Skill(_))) => true,
        // The file is being written and its kind is not known yet.
        Outcome::Ignored => listing.files.is_empty(),
    }
}

/// Returns a diagnostic for pages that look like commands but belong to the skill of the `SKILL.md` next to
/// them; otherwise they would disappear silently.
fn hidden_pages(folder: &Path, files: &[PathBuf]) -> Option<Diagnostic> {
    let domain = file_name(folder)?;
    let start = format!("name: {domain}.");
    let is_page = |path: &&PathBuf| {
        let bytes = read_regular(path, MAX_FILE_BYTES).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        text.starts_with("---") && text.lines().take(20).any(|line| line.starts_with(&start))
    };
    let pages: Vec<String> = files
        .iter()
        .filter(is_page)
        .filter_map(|path| Some(format!("`{}`", file_name(path)?)))
        .collect();
    let verb = if pages.len() == 1 { "is" } else { "are" };
    let message = format!(
        "{} {verb} not loaded: the SKILL.md in the same folder has a `name`, so all files here are part of that skill",
        pages.join(", ")
    );
    let help = format!(
        "move the pages elsewhere, or make the SKILL.md an index: `domain: {domain}` and no `name`"
    );
    (!pages.is_empty()).then(|| Diagnostic::new(Rule::NamePathMismatch, message).with_help(help))
}

fn looks_like_index(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let head: Vec<&str> = text.lines().take(20).collect();
    let has = |key: &str| head.iter().any(|line| line.starts_with(key));
    has("domain:") && !has("name:")
}

/// Returns the domain of subfolders: an index may rename it (S2.13), and each folder directly below a root is
/// a domain.
fn domain_below(folder: &Folder) -> Option<Arc<str>> {
    if folder.visit.depth == 0 {
        return None;
    }
    let index = folder
        .units
        .iter()
        .find_map(|unit| match unit.outcome.live() {
            Some(Definition::Domain(index)) => Some(Arc::from(index.domain.as_str())),
            Some(Definition::Skill(_) | Definition::Agent(_)) | None => None,
        });
    index.or_else(|| folder.visit.domain.clone())
}
