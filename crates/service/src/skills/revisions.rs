//! The stored revisions of a skill, and their differences.

use deft_store::UsedRevision;
use deft_wire::stats::{RevisionDocument, RevisionList, RevisionView};
use deft_wire::{Done, Failure};

use super::diff::unified_diff;
use crate::app::{self, App};
use crate::store;

/// Returns the revisions of a skill that runs used, and the current one, latest first.
pub fn revisions(app: &App, name: &str) -> Done<RevisionList> {
    let (skill, current) = find(app, name)?;
    let used = app.block_on(app.engine.store().used_revisions(&skill));
    let used = used.map_err(|error| store::failure(&error))?;
    let view = |one: UsedRevision| RevisionView {
        current: current.as_ref() == Some(&one.revision),
        revision: one.revision,
        runs: one.runs,
        first_run_at: Some(one.first),
        last_run_at: Some(one.last),
    };
    let mut revisions: Vec<RevisionView> = used.into_iter().map(view).collect();
    if let Some(current) = current
        && !revisions.iter().any(|one| one.current)
    {
        let unused = RevisionView {
            revision: current,
            current: true,
            runs: 0,
            first_run_at: None,
            last_run_at: None,
        };
        revisions.insert(0, unused);
    }
    if revisions.is_empty() {
        let failure = Failure::input("unknown_skill", format!("unknown skill `{name}`"));
        return Err(failure.hint("`deft skills list` shows all skills"));
    }
    Ok(RevisionList { skill, revisions })
}

/// Returns a revision with its difference to `base`, by default the revision before it.
pub fn revision(
    app: &App,
    name: &str,
    revision: &str,
    base: Option<&str>,
) -> Done<RevisionDocument> {
    let RevisionList { skill, revisions } = revisions(app, name)?;
    let known: Vec<&str> = revisions.iter().map(|one| one.revision.as_str()).collect();
    let at = position(&known, &skill, revision)?;
    let base = match base {
        Some(base) => Some(known[position(&known, &skill, base)?]),
        None => known.get(at + 1).copied(),
    };
    let text = text(app, &skill, known[at])?;
    let diff = match base {
        Some(base) => {
            let before = self::text(app, &skill, base)?;
            Some(unified_diff(&before, &text, short(base), short(known[at])))
        }
        None => None,
    };
    Ok(RevisionDocument {
        skill,
        revision: known[at].to_owned(),
        text,
        base: base.map(str::to_owned),
        diff,
    })
}

/// Returns the id of a skill and its current revision; a deleted skill has no current revision, but may have
/// runs.
fn find(app: &App, name: &str) -> Done<(String, Option<String>)> {
    use deft_engine::Error;
    match app.block_on(app.engine.library().find(name)) {
        Ok(pinned) => Ok((pinned.skill.id.to_string(), Some(pinned.revision))),
        Err(
            Error::UnknownSkill { .. } | Error::DeletedSkill { .. } | Error::BrokenSkill { .. },
        ) => Ok((name.to_owned(), None)),
        Err(error) => Err(app::failure(&error)),
    }
}

/// Returns the index of a revision by its hash or a prefix of it.
fn position(known: &[&str], skill: &str, given: &str) -> Done<usize> {
    let mut fitting = known
        .iter()
        .enumerate()
        .filter(|(_, one)| one.starts_with(given));
    match (fitting.next(), fitting.next()) {
        (Some((at, _)), None) if !given.is_empty() => Ok(at),
        (None, _) | (Some(_), None) => {
            let message = format!("`{skill}` has no revision `{given}`");
            Err(Failure::input("unknown_revision", message)
                .hint("`GET /api/v1/skills/NAME/revisions` lists them"))
        }
        (Some(_), Some(_)) => {
            let message = format!("`{given}` matches several revisions");
            Err(Failure::input("ambiguous", message).hint("use a longer prefix"))
        }
    }
}

fn text(app: &App, skill: &str, revision: &str) -> Done<String> {
    let text = app.block_on(app.engine.library().revision_text(skill, revision));
    text.map_err(|error| app::failure(&error))
}

fn short(revision: &str) -> &str {
    revision.get(..12).unwrap_or(revision)
}
