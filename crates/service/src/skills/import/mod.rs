//! Copies skills into the home.
//!
//! `gather` finds everything, `decide` decides about each skill, and only then is anything written.

mod decide;
mod gather;
pub(super) mod layout;
mod report;

use std::fs;
use std::path::PathBuf;

use deft_wire::skill_files::ImportReport;
use deft_wire::{Done, Failure};

use self::decide::{ImportDecision, Verdict, decide};
use self::gather::GatheredSkills;
use super::files::{Effect, FileRefusal};
use crate::workspace::Workspace;

/// What to import, and how.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// Replace existing skills.
    pub force: bool,
    /// Skip existing skills.
    pub keep: bool,
    /// Decide and write nothing.
    pub dry_run: bool,
}

/// A finished import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The document.
    pub report: ImportReport,
    /// Whether skills were refused that `force` or `keep` would let through.
    pub has_conflicts: bool,
}

/// Imports skills into the home.
pub fn import(workspace: &Workspace, request: &ImportRequest) -> Done<Import> {
    let home = workspace.home()?;
    let mut gathered = GatheredSkills::new(&home);
    for path in &request.paths {
        gathered.add(path)?;
    }
    if gathered.items.is_empty() && gathered.refused.is_empty() {
        return Err(
            Failure::input("nothing_to_import", "no skills found in the given files")
                .hint("`deft skills validate PATH` says what deft sees there"),
        );
    }
    let decided = decide(gathered.items, &home, request);
    let refused = all_refused(gathered.refused, &decided);
    if !request.dry_run && decided.iter().any(ImportDecision::changes) {
        home.ensure()?;
        decided.iter().try_for_each(apply)?;
    }
    let conflict = |one: &ImportDecision| matches!(one.verdict, Verdict::Conflict(_));
    Ok(Import {
        report: report::report(&decided, &refused, request.dry_run),
        has_conflicts: decided.iter().any(conflict),
    })
}

/// Everything that is refused, each once however often it was given.
fn all_refused(found: Vec<FileRefusal>, decided: &[ImportDecision]) -> Vec<FileRefusal> {
    let mut all: Vec<FileRefusal> = Vec::new();
    for one in found.into_iter().chain(decided.iter().flat_map(refusals)) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// A skill that is refused as a whole, or the files of it that are.
fn refusals(one: &ImportDecision) -> Vec<FileRefusal> {
    match &one.verdict {
        Verdict::Refuse(reason) | Verdict::Conflict(reason) => {
            vec![FileRefusal::new(&one.item.source, reason.as_str())]
        }
        Verdict::Write => one.item.left_out.clone(),
        Verdict::Keep(_) | Verdict::Again => Vec::new(),
    }
}

fn apply(one: &ImportDecision) -> Done<()> {
    for (file, effect) in one.item.files.iter().zip(&one.effects) {
        if *effect != Effect::Same {
            file.write()?;
        }
    }
    for path in &one.removed {
        fs::remove_file(path).map_err(|problem| Failure::file(path, "remove", &problem))?;
    }
    Ok(())
}
