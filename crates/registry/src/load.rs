//! Reads one file and decides what stays in use when it is broken.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_skillfile::{Diagnostic, Document, Parsed, Place, Profile, Rule, has_errors, parse};

use crate::digest::revision;
use crate::file::{file_name, read_known};
use crate::siblings;
use crate::stamp::Stamp;
use crate::survey::Survey;
use crate::unit::{Definition, Loaded, LoadedAgent, Outcome, Unit};

/// How the files of one folder are to be read.
pub(crate) struct Reading<'a> {
    pub survey: &'a Survey<'a>,
    pub domain: Option<Arc<str>>,
    /// The files beside a `SKILL.md`; empty for everything else.
    pub siblings: Vec<(String, Stamp)>,
    /// Files that may not be opened, and why.
    pub refused: &'a HashMap<PathBuf, Diagnostic>,
}

/// Reads a file, or keeps what is known of it when nothing changed.
pub(crate) fn load(reading: &Reading<'_>, path: &Path, old: Option<&Unit>) -> Unit {
    if let Some(problem) = reading.refused.get(path) {
        return refused(reading, path, problem, old);
    }
    let metadata = path.metadata();
    let stamp = metadata.as_ref().ok().map(Stamp::from_metadata);
    if let Some(old) = old.filter(|old| is_same(reading, old, stamp)) {
        return old.clone();
    }
    let content = metadata
        .and_then(|metadata| read_known(path, &metadata, reading.survey.options.max_file_bytes));
    // A file without a byte is most likely being written; another event will
    // say when it is there, and the next rescan if it stays as it is.
    let unfinished = reading.survey.live && content.as_ref().is_ok_and(Vec::is_empty);
    let stamp = stamp.filter(|_| !unfinished);
    let (outcome, diagnostics) = match content {
        Ok(_) if unfinished => old.map_or((Outcome::Ignored, Vec::new()), |old| {
            (old.outcome.clone(), old.diagnostics.to_vec())
        }),
        Ok(bytes) => interpret(reading, path, &bytes, old),
        Err(problem) => (Outcome::Broken(last_good(old)), vec![refusal(&problem)]),
    };
    Unit {
        path: old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path)),
        outcome,
        diagnostics: diagnostics.into(),
        stamp,
        domain: reading.domain.clone(),
        sibling_stamps: reading.siblings.as_slice().into(),
    }
}

/// A file that is not opened: a link to somewhere else, or no regular file.
fn refused(reading: &Reading<'_>, path: &Path, problem: &Diagnostic, old: Option<&Unit>) -> Unit {
    Unit {
        path: old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path)),
        outcome: Outcome::Broken(last_good(old)),
        diagnostics: vec![problem.clone()].into(),
        stamp: None,
        domain: reading.domain.clone(),
        sibling_stamps: reading.siblings.as_slice().into(),
    }
}

fn is_same(reading: &Reading<'_>, old: &Unit, stamp: Option<Stamp>) -> bool {
    stamp.is_some()
        && old.stamp == stamp
        && old.domain == reading.domain
        && *old.sibling_stamps == *reading.siblings
        && !is_forced(reading, &old.path)
}

/// The problem of a file that cannot be read.
pub fn refusal(problem: &io::Error) -> Diagnostic {
    if problem.kind() == io::ErrorKind::FileTooLarge {
        let help = "move details into files beside it, such as `references/`";
        return Diagnostic::new(Rule::TooLarge, problem.to_string()).with_help(help);
    }
    Diagnostic::new(Rule::Unreadable, format!("cannot be read: {problem}"))
}

/// Whether an event named the file, or one beside it that belongs to it.
fn is_forced(reading: &Reading<'_>, path: &Path) -> bool {
    let forced = reading.survey.forced;
    let folder = path.parent().unwrap_or(path);
    let beside = |(name, _): &(String, Stamp)| forced.contains(&folder.join(name));
    forced.contains(path) || (!forced.is_empty() && reading.siblings.iter().any(beside))
}

fn interpret(
    reading: &Reading<'_>,
    path: &Path,
    bytes: &[u8],
    old: Option<&Unit>,
) -> (Outcome, Vec<Diagnostic>) {
    let place = Place {
        file: file_name(path).unwrap_or_default(),
        folder: path.parent().and_then(file_name).unwrap_or_default(),
        domain: reading.domain.as_deref(),
    };
    let parsed = parse(bytes, &place, Profile::Deft, reading.survey.moment);
    let outcome = match parsed {
        Parsed {
            document: Some(Document::Domain(index)),
            ..
        } => Outcome::Good(Definition::Domain(Arc::new(index))),
        Parsed {
            document: Some(Document::Agent(agent)),
            ..
        } => Outcome::Good(Definition::Agent(Arc::new(LoadedAgent {
            agent: *agent,
            revision: revision(place.file, bytes, &[]),
            path: Some(old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path))),
        }))),
        Parsed {
            document: Some(Document::Skill(skill)),
            ..
        } => {
            let siblings = hash_siblings(reading, path, old);
            Outcome::Good(Definition::Skill(Arc::new(Loaded {
                revision: revision(place.file, bytes, &siblings),
                skill: *skill,
                path: old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path)),
                siblings,
            })))
        }
        Parsed {
            document: None,
            ref diagnostics,
            ..
        } if !has_errors(diagnostics) => Outcome::Ignored,
        Parsed { document: None, .. } => Outcome::Broken(last_good(old)),
    };
    (outcome, parsed.diagnostics)
}

fn hash_siblings(
    reading: &Reading<'_>,
    path: &Path,
    old: Option<&Unit>,
) -> Vec<deft_model::SiblingFile> {
    let known = old.and_then(|old| match old.outcome.live() {
        Some(Definition::Skill(loaded)) => Some((&**loaded, &*old.sibling_stamps)),
        Some(Definition::Domain(_) | Definition::Agent(_)) | None => None,
    });
    let folder = path.parent().unwrap_or(Path::new(""));
    let max_bytes = reading.survey.options.max_sibling_bytes;
    siblings::hash(
        folder,
        &reading.siblings,
        known,
        reading.survey.forced,
        max_bytes,
    )
}

fn last_good(old: Option<&Unit>) -> Option<Definition> {
    old.and_then(|old| old.outcome.live().cloned())
}
