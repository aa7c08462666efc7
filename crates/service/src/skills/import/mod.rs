//! Imports skills into the home: from files and folders, archives, git repositories, crontabs and workflows
//! of n8n.
//!
//! `source` parses what the user named, `fetch` copies it to a folder, `gather` finds its skills, `decide`
//! decides what to do with each, and only then does `place` write anything.

mod claude;
mod crontab;
mod decide;
mod escape;
mod fetch;
mod gather;
mod git;
mod json;
pub(super) mod layout;
mod n8n;
mod place;
mod report;
mod scratch;
mod source;
mod unpack;
mod workflow;

use std::collections::BTreeSet;
use std::path::PathBuf;

use deft_config::Home;
use deft_tools::{Environment, Router};
use deft_wire::skill_files::ImportReport;
use deft_wire::{Done, Failure};

pub use self::crontab::import_crontab;
use self::decide::{ImportDecision, Verdict, decide};
use self::fetch::Fetcher;
use self::gather::GatheredSkills;
use self::scratch::Labels;
pub use self::source::ImportFormat;
use self::source::Source;
use super::files::FileRefusal;
use crate::workspace::Workspace;

/// What to import, and how.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// Files, folders, archives, repository addresses, and the word `crontab`.
    pub paths: Vec<PathBuf>,
    /// The format of all sources, if their names do not determine it.
    pub format: Option<ImportFormat>,
    /// Whether to replace existing skills.
    pub force: bool,
    /// Whether to skip existing skills.
    pub keep: bool,
    /// Whether to report the decisions without writing anything.
    pub dry_run: bool,
}

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Import {
    /// The report.
    pub report: ImportReport,
    /// Whether skills were refused that `force` or `keep` would permit.
    pub has_conflicts: bool,
    /// Suggestions for the next command.
    pub hints: Vec<String>,
}

/// Imports skills into the home.
pub fn import(workspace: &Workspace, request: &ImportRequest) -> Done<Import> {
    let home = workspace.home()?;
    let sources = request.paths.iter();
    let sources = sources.map(|path| Source::parse(path, request.format));
    let sources = sources.collect::<Done<Vec<Source>>>()?;
    let mut fetcher = Fetcher::new(workspace);
    let mut gathered = GatheredSkills::new(&home);
    for source in &sources {
        fetcher.gather(source, &mut gathered, &home)?;
    }
    if gathered.items.is_empty() && gathered.refused.is_empty() {
        return Err(
            Failure::input("nothing_to_import", "no skills found in the given files")
                .hint("`deft skills validate PATH` shows what deft finds there"),
        );
    }
    let imported = finish(gathered, &home, request, &fetcher.labels)?;
    workspace.note_written();
    Ok(imported)
}

/// Decides about all gathered skills, writes them, and reports.
fn finish(
    gathered: GatheredSkills<'_>,
    home: &Home,
    request: &ImportRequest,
    labels: &Labels,
) -> Done<Import> {
    let unmapped = gathered.unmapped;
    let decided = decide(gathered.items, home, request);
    let refused = all_refused(gathered.refused, &decided);
    if !request.dry_run && decided.iter().any(ImportDecision::changes) {
        place::place(&decided, home)?;
    }
    let conflict = |one: &ImportDecision| matches!(one.verdict, Verdict::Conflict(_));
    Ok(Import {
        report: report::report(&decided, &refused, unmapped, request.dry_run, labels),
        has_conflicts: decided.iter().any(conflict),
        hints: hints(&decided, home),
    })
}

/// Returns hints about steps that are necessary before the imported skills run.
fn hints(decided: &[ImportDecision], home: &Home) -> Vec<String> {
    let changed = decided.iter().filter(|one| one.changes());
    let disabled = changed.clone().find(|one| one.item.disabled);
    let accept = disabled.map(|one| {
        let id = &one.item.id;
        format!("`deft skills enable {id}` accepts a disabled skill; then stop the old schedule, or both run it")
    });
    let tools: BTreeSet<&String> = changed.flat_map(|one| &one.item.tools).collect();
    let router = Router::new(home.config.tools.clone(), Environment::default());
    let off = tools
        .into_iter()
        .filter_map(|tool| router.failure_if_disabled(tool));
    let off = off.map(|off| match off.hint {
        Some(hint) => format!("{}; {hint}", off.message),
        None => off.message,
    });
    accept.into_iter().chain(off).collect()
}

/// Returns all refusals without duplicates.
fn all_refused(found: Vec<FileRefusal>, decided: &[ImportDecision]) -> Vec<FileRefusal> {
    let mut all: Vec<FileRefusal> = Vec::new();
    for one in found.into_iter().chain(decided.iter().flat_map(refusals)) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    all
}

/// Returns the refusal of a whole skill, or those of its files.
fn refusals(one: &ImportDecision) -> Vec<FileRefusal> {
    match &one.verdict {
        Verdict::Refuse(reason) | Verdict::Conflict(reason) => {
            vec![FileRefusal::new(&one.item.source, reason.as_str())]
        }
        Verdict::Write => one.item.left_out.clone(),
        Verdict::Keep(_) | Verdict::Again => Vec::new(),
    }
}
