//! Loads one file and decides what stays in use when it is broken.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use deft_skillfile::{
    Diagnostic, Document, FileLocation, ParsedFile, Profile, Rule, has_errors, parse,
};

use crate::digest::revision;
use crate::file::{file_name, read_known};
use crate::siblings;
use crate::stamp::Stamp;
use crate::survey::Survey;
use crate::unit::{Definition, LoadedAgent, LoadedSkill, Outcome, Unit};

/// The context for loading the files of one folder.
pub(crate) struct FolderContext<'a> {
    pub survey: &'a Survey<'a>,
    pub domain: Option<Arc<str>>,
    /// The files next to a `SKILL.md`; empty for other files.
    pub siblings: Vec<(String, Stamp)>,
    /// Files that must not be opened, and why.
    pub refused: &'a HashMap<PathBuf, Diagnostic>,
}

/// Loads a file, or returns the previous result if nothing changed.
pub(crate) fn load(context: &FolderContext<'_>, path: &Path, old: Option<&Unit>) -> Unit {
    if let Some(problem) = context.refused.get(path) {
        return refused_unit(context, path, problem, old);
    }
    let metadata = path.metadata();
    let stamp = metadata.as_ref().ok().map(Stamp::from_metadata);
    if let Some(old) = old.filter(|old| is_same(context, old, stamp)) {
        return old.clone();
    }
    let read = metadata
        .and_then(|metadata| read_known(path, &metadata, context.survey.options.max_file_bytes));
    // An empty file is most likely being written. Another event reports its content, or the next rescan if it
    // stays empty.
    let unfinished = context.survey.live && read.as_ref().is_ok_and(Vec::is_empty);
    let stamp = stamp.filter(|_| !unfinished);
    let (outcome, diagnostics) = match read {
        Ok(_) if unfinished => old.map_or((Outcome::Ignored, Vec::new()), |old| {
            (old.outcome.clone(), old.diagnostics.to_vec())
        }),
        Ok(bytes) => interpret(context, path, &bytes, old),
        Err(problem) => (Outcome::Broken(last_good(old)), vec![refusal(&problem)]),
    };
    Unit {
        path: old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path)),
        outcome,
        diagnostics: diagnostics.into(),
        stamp,
        domain: context.domain.clone(),
        sibling_stamps: context.siblings.as_slice().into(),
    }
}

/// Returns the result for a file that must not be opened: a link to the outside, or not a regular file.
fn refused_unit(
    context: &FolderContext<'_>,
    path: &Path,
    problem: &Diagnostic,
    old: Option<&Unit>,
) -> Unit {
    Unit {
        path: old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path)),
        outcome: Outcome::Broken(last_good(old)),
        diagnostics: vec![problem.clone()].into(),
        stamp: None,
        domain: context.domain.clone(),
        sibling_stamps: context.siblings.as_slice().into(),
    }
}

fn is_same(context: &FolderContext<'_>, old: &Unit, stamp: Option<Stamp>) -> bool {
    stamp.is_some()
        && old.stamp == stamp
        && old.domain == context.domain
        && *old.sibling_stamps == *context.siblings
        && !is_forced(context, &old.path)
}

/// Returns the diagnostic for a file that cannot be read.
pub fn refusal(problem: &io::Error) -> Diagnostic {
    if problem.kind() == io::ErrorKind::FileTooLarge {
        let help = "move details into other files of the folder, such as `references/`";
        return Diagnostic::new(Rule::TooLarge, problem.to_string()).with_help(help);
    }
    Diagnostic::new(Rule::Unreadable, format!("cannot be read: {problem}"))
}

/// Whether an event named the file or a sibling that belongs to it.
fn is_forced(context: &FolderContext<'_>, path: &Path) -> bool {
    let forced = context.survey.forced;
    let folder = path.parent().unwrap_or(path);
    let beside = |(name, _): &(String, Stamp)| forced.contains(&folder.join(name));
    forced.contains(path) || (!forced.is_empty() && context.siblings.iter().any(beside))
}

fn interpret(
    context: &FolderContext<'_>,
    path: &Path,
    bytes: &[u8],
    old: Option<&Unit>,
) -> (Outcome, Vec<Diagnostic>) {
    let location = FileLocation {
        file: file_name(path).unwrap_or_default(),
        folder: path.parent().and_then(file_name).unwrap_or_default(),
        domain: context.domain.as_deref(),
    };
    let parsed = parse(bytes, &location, Profile::Deft, context.survey.moment);
    let outcome = match parsed {
        ParsedFile {
            document: Some(Document::Domain(index)),
            ..
        } => Outcome::Good(Definition::Domain(Arc::new(index))),
        ParsedFile {
            document: Some(Document::Agent(agent)),
            ..
        } => Outcome::Good(Definition::Agent(Arc::new(LoadedAgent {
            agent: *agent,
            revision: revision(location.file, bytes, &[]),
            path: Some(old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path))),
        }))),
        ParsedFile {
            document: Some(Document::Skill(skill)),
            ..
        } => {
            let siblings = hash_siblings(context, path, old);
            Outcome::Good(Definition::Skill(Arc::new(LoadedSkill {
                revision: revision(location.file, bytes, &siblings),
                skill: *skill,
                path: old.map_or_else(|| Arc::from(path), |old| Arc::clone(&old.path)),
                siblings,
            })))
        }
        ParsedFile {
            document: None,
            ref diagnostics,
            ..
        } if !has_errors(diagnostics) => Outcome::Ignored,
        ParsedFile { document: None, .. } => Outcome::Broken(last_good(old)),
    };
    (outcome, parsed.diagnostics)
}

fn hash_siblings(
    context: &FolderContext<'_>,
    path: &Path,
    old: Option<&Unit>,
) -> Vec<deft_model::SiblingFile> {
    let known = old.and_then(|old| match old.outcome.live() {
        Some(Definition::Skill(loaded)) => Some((&**loaded, &*old.sibling_stamps)),
        Some(Definition::Domain(_) | Definition::Agent(_)) | None => None,
    });
    let folder = path.parent().unwrap_or(Path::new(""));
    let max_bytes = context.survey.options.max_sibling_bytes;
    siblings::hash(
        folder,
        &context.siblings,
        known,
        context.survey.forced,
        max_bytes,
    )
}

fn last_good(old: Option<&Unit>) -> Option<Definition> {
    old.and_then(|old| old.outcome.live().cloned())
}
