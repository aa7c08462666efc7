//! What was imported, or would be.

use std::path::Path;

use deft_wire::skill_files::{AlsoDefined, ImportEffect, ImportReport, ImportedFile};

use super::decide::{ImportDecision, Verdict};
use super::layout::Part;
use crate::skills::files::{Effect, FileRefusal};

pub(super) fn report(
    decided: &[ImportDecision],
    refused: &[FileRefusal],
    dry_run: bool,
) -> ImportReport {
    let also = |one: &ImportDecision| {
        let also = one.also.as_ref()?;
        Some(AlsoDefined {
            skill: one.item.id.clone(),
            path: also.display().to_string(),
        })
    };
    ImportReport {
        ok: refused.is_empty(),
        dry_run,
        skills: skills(decided, ImportDecision::changes),
        unchanged: skills(decided, |one| {
            one.verdict == Verdict::Write && !one.changes()
        }),
        kept: skills(decided, |one| matches!(one.verdict, Verdict::Keep(_))),
        files: decided.iter().flat_map(files).collect(),
        refused: refused.iter().map(FileRefusal::view).collect(),
        also_defined: decided.iter().filter_map(also).collect(),
    }
}

/// The skills for which something holds, without indexes of domains.
fn skills(decided: &[ImportDecision], holds: impl Fn(&ImportDecision) -> bool) -> Vec<String> {
    let skills = decided.iter();
    let skills = skills.filter(|one| one.item.part != Part::Index && holds(one));
    skills.map(|one| one.item.id.clone()).collect()
}

/// The files of a skill with the effect on each.
fn files(one: &ImportDecision) -> Vec<ImportedFile> {
    let file = |path: &Path, effect: ImportEffect| ImportedFile {
        path: path.display().to_string(),
        effect,
    };
    let kept = match &one.verdict {
        Verdict::Keep(path) => Some(file(path, ImportEffect::Kept)),
        Verdict::Write | Verdict::Refuse(_) | Verdict::Conflict(_) | Verdict::Again => None,
    };
    let written = one.item.files.iter().zip(&one.effects);
    let written = written.map(|(planned, effect)| file(&planned.path, view(*effect)));
    let removed = one.removed.iter();
    let removed = removed.map(|path| file(path, ImportEffect::Removed));
    kept.into_iter().chain(written).chain(removed).collect()
}

fn view(effect: Effect) -> ImportEffect {
    match effect {
        Effect::New => ImportEffect::New,
        Effect::Same => ImportEffect::Unchanged,
        Effect::Replaces => ImportEffect::Replaced,
        Effect::Blocked => ImportEffect::Blocked,
    }
}
