//! The report of an import or of a dry run.

use std::path::Path;

use deft_wire::skill_files::{
    AlsoDefined, ImportEffect, ImportItem, ImportReport, ImportedFile, RefusedFile, UnmappedNode,
};

use super::decide::{ImportDecision, Verdict};
use super::layout::Part;
use super::scratch::Labels;
use crate::skills::files::{Effect, FileRefusal};

pub(super) fn report(
    decided: &[ImportDecision],
    refused: &[FileRefusal],
    unmapped: Vec<UnmappedNode>,
    dry_run: bool,
    labels: &Labels,
) -> ImportReport {
    let also = |one: &ImportDecision| {
        let also = one.also.as_ref()?;
        Some(AlsoDefined {
            skill: one.item.id.clone(),
            path: also.display().to_string(),
        })
    };
    let is_skill = |one: &ImportDecision| !matches!(one.item.part, Part::Index | Part::Agent);
    let is_agent = |one: &ImportDecision| one.item.part == Part::Agent;
    let is_same = |one: &ImportDecision| one.verdict == Verdict::Write && !one.changes();
    let is_kept = |one: &ImportDecision| matches!(one.verdict, Verdict::Keep(_));
    ImportReport {
        ok: refused.is_empty(),
        dry_run,
        skills: ids(decided, |one| is_skill(one) && one.changes()),
        unchanged: ids(decided, |one| is_skill(one) && is_same(one)),
        kept: ids(decided, |one| is_skill(one) && is_kept(one)),
        files: decided.iter().flat_map(files).collect(),
        refused: refused.iter().map(|one| refusal(one, labels)).collect(),
        also_defined: decided.iter().filter_map(also).collect(),
        items: decided.iter().filter_map(item).collect(),
        agents: ids(decided, |one| is_agent(one) && one.changes()),
        unmapped: unmapped
            .into_iter()
            .map(|node| label_node(node, labels))
            .collect(),
    }
}

/// Returns the ids of the items that satisfy `holds`.
fn ids(decided: &[ImportDecision], holds: impl Fn(&ImportDecision) -> bool) -> Vec<String> {
    let items = decided.iter().filter(|one| holds(one));
    items.map(|one| one.item.id.clone()).collect()
}

fn refusal(one: &FileRefusal, labels: &Labels) -> RefusedFile {
    let view = one.view();
    RefusedFile {
        path: labels.show(&view.path),
        reason: labels.show(&view.reason),
    }
}

fn label_node(node: UnmappedNode, labels: &Labels) -> UnmappedNode {
    UnmappedNode {
        path: labels.show(&node.path),
        ..node
    }
}

/// Reports a skill or agent; `None` if it is refused or a duplicate.
fn item(one: &ImportDecision) -> Option<ImportItem> {
    let effect = match &one.verdict {
        Verdict::Refuse(_) | Verdict::Conflict(_) | Verdict::Again => return None,
        Verdict::Keep(_) => ImportEffect::Kept,
        Verdict::Write if !one.changes() => ImportEffect::Unchanged,
        Verdict::Write => {
            let is_new = one.effects.first() == Some(&Effect::New);
            if is_new {
                ImportEffect::New
            } else {
                ImportEffect::Replaced
            }
        }
    };
    Some(ImportItem {
        id: one.item.id.clone(),
        kind: one.item.kind,
        effect,
        files: one.item.files.len(),
        disabled: one.item.disabled,
        notes: one.item.notes.clone(),
    })
}

/// Reports the files of a skill with the effect on each.
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
