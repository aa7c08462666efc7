//! Checks whether each file is loaded, and checks the folders, the store and the machine.

use std::collections::HashMap;
use std::path::PathBuf;

use deft_config::env;
use deft_registry::discovery::is_hidden;
use deft_registry::{FileReport, Snapshot, State, can_watch};
use deft_skillfile::{Diagnostic, Severity};
use deft_wire::Done;
use deft_wire::diagnostic::{CheckSeverity, ExaminedFile, FileState, SkillsCheck, SkillsReport};

use super::catalog::SkillCatalog;
use super::finding::{Finding, locate};
use super::surroundings::check_surroundings;
use crate::library::Library;
use crate::words::format_count;
use crate::workspace::Workspace;

/// Folders in which other hosts keep skills.
const OTHER_HOSTS: &[&str] = &[
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
];

/// The results for all files of a workspace.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The report, for output as JSON.
    pub report: SkillsReport,
    /// The notes for each file of the report, in the same order.
    pub notes: Vec<FileNotes>,
    /// The number of loaded skills.
    pub skill_count: usize,
    /// The number of broken files.
    pub broken: usize,
}

/// Further notes about a file, for display.
#[derive(Clone, Debug)]
pub struct FileNotes {
    /// Unknown tools and skills, and wrong arguments.
    pub surroundings: Vec<Finding>,
    /// The remedy for a file that is not read.
    pub hint: Option<String>,
    /// Why the file is broken.
    pub errors: Vec<Finding>,
}

/// The summary of skills for a health check.
pub(crate) struct SkillHealth {
    /// The skills.
    pub snapshot: Snapshot,
    /// The number of skills that are loaded.
    pub skill_count: usize,
    /// The number of broken files.
    pub broken: usize,
    /// The number of broken files whose skill stays in use in its last valid version.
    pub kept: usize,
    /// The number of files hidden by other files.
    pub shadowed: usize,
    /// The number of files with unknown tools or skills, or wrong arguments.
    pub unfit: usize,
    /// Names that both a file and a record have, each as a message and a remedy.
    pub clashes: Vec<(String, String)>,
}

/// Examines all files of a workspace.
pub fn examine(workspace: &Workspace) -> Done<Examination> {
    let catalog = SkillCatalog::open(workspace)?;
    let (library, snapshot) = (&catalog.library, &catalog.snapshot);
    let mut checks = check_roots(library, snapshot);
    checks.push(check_watches(library));
    if workspace.roots.is_empty() {
        checks.extend(check_other_hosts(library));
    }
    checks.extend(check_clashes(&catalog));
    let around = check_surroundings(workspace, snapshot, None)?;
    let mut report = SkillsReport {
        ok: true,
        checks,
        files: Vec::new(),
    };
    let (mut notes, mut broken) = (Vec::new(), 0);
    for file in snapshot.files() {
        let around = around.get(&*file.path).map(Vec::as_slice);
        let (view, note) = examine_file(file, snapshot, around.unwrap_or_default());
        broken += usize::from(view.state == FileState::Broken);
        report.files.push(view);
        notes.push(note);
    }
    report.ok = broken == 0;
    Ok(Examination {
        report,
        notes,
        skill_count: snapshot.skill_count(),
        broken,
    })
}

/// Counts the problems of a home's skills. If the store cannot be read, no clashes and no unknown tools are
/// reported; another check reports the store.
pub(crate) fn health(workspace: &Workspace) -> Done<SkillHealth> {
    let mut catalog = SkillCatalog::open_files(workspace)?;
    if let Err(failure) = catalog.read_store(workspace) {
        tracing::debug!(message = failure.message, "the store cannot be read");
    }
    let snapshot = &catalog.snapshot;
    let around = check_surroundings(workspace, snapshot, None).unwrap_or_else(|failure| {
        tracing::debug!(message = failure.message, "the known tools cannot be read");
        HashMap::new()
    });
    let count = |wanted: fn(&State) -> bool| {
        let files = snapshot.files().iter();
        files.filter(|file| wanted(&file.state)).count()
    };
    Ok(SkillHealth {
        skill_count: snapshot.skill_count(),
        broken: count(|state| matches!(state, State::Broken { .. })),
        kept: count(|state| matches!(state, State::Broken { kept: Some(_) })),
        shadowed: count(|state| matches!(state, State::Shadowed { .. })),
        unfit: around.len(),
        clashes: catalog.clashes(),
        snapshot: catalog.snapshot,
    })
}

fn examine_file(
    file: &FileReport,
    snapshot: &Snapshot,
    around: &[Diagnostic],
) -> (ExaminedFile, FileNotes) {
    let found = locate(&file.path, file.diagnostics.iter());
    let surroundings = locate(&file.path, around);
    let (state, reason) = verdict(file, snapshot);
    let all = found.iter().chain(&surroundings);
    let view = ExaminedFile {
        path: file.path.display().to_string(),
        root: file.root.display().to_string(),
        state,
        id: match &file.state {
            State::Loaded(id) | State::Broken { kept: Some(id) } => Some(id.to_string()),
            State::Shadowed { id, .. } | State::Index(id) | State::Agent(id) => Some(id.clone()),
            State::Broken { kept: None } | State::Ignored => None,
        },
        reason,
        diagnostics: all.map(Finding::view).collect(),
    };
    let is_broken = state == FileState::Broken;
    let is_error = |one: &Finding| one.severity == deft_wire::diagnostic::Severity::Error;
    let notes = FileNotes {
        surroundings,
        // For broken files, an excerpt with help is shown instead.
        hint: file.left_out().and_then(|why| why.help.clone()),
        errors: found
            .into_iter()
            .filter(|one| is_broken && is_error(one))
            .collect(),
    };
    (view, notes)
}

/// Returns whether a file is loaded, and the reason for its state.
fn verdict(file: &FileReport, snapshot: &Snapshot) -> (FileState, Option<String>) {
    let first = file.diagnostics.iter().rev().max_by_key(|one| one.severity);
    let reason = first.map(|one| one.message.clone());
    let warning = || {
        let first = first.filter(|one| one.severity == Severity::Warning);
        first.map(|one| one.message.clone())
    };
    match &file.state {
        State::Loaded(id) => match snapshot.skill(id.as_str()) {
            Some(loaded) if is_hidden(&loaded.skill) => (
                FileState::Hidden,
                Some("`disable-model-invocation` hides it from models".to_owned()),
            ),
            Some(loaded) if !loaded.skill.policy.enabled => (
                FileState::Loaded,
                Some("`enabled: false` disables it".to_owned()),
            ),
            _ => (FileState::Loaded, warning()),
        },
        State::Agent(_) => (FileState::Agent, warning()),
        State::Index(_) => (FileState::Index, None),
        State::Shadowed { by, .. } => (
            FileState::Shadowed,
            Some(format!("{} comes first", by.display())),
        ),
        State::Broken { kept } => {
            let kept = kept
                .as_ref()
                .map(|id| format!("; the last valid version of `{id}` stays in use"))
                .unwrap_or_default();
            (FileState::Broken, reason.map(|reason| reason + &kept))
        }
        State::Ignored => (FileState::Ignored, reason),
    }
}

fn check(id: &str, ok: bool, message: String, hint: Option<String>) -> SkillsCheck {
    SkillsCheck {
        id: id.to_owned(),
        severity: if ok {
            CheckSeverity::Ok
        } else {
            CheckSeverity::Warning
        },
        message,
        hint,
    }
}

fn check_roots(library: &Library, snapshot: &Snapshot) -> Vec<SkillsCheck> {
    let skills = |root: &PathBuf| {
        let loaded = snapshot.skills();
        let count = loaded
            .filter(|loaded| loaded.path.starts_with(root))
            .count();
        let path = root.display();
        if root.is_dir() {
            let message = format!("{} in {path}", format_count(count, "skill"));
            return check("skills.root", true, message, None);
        }
        let message = format!("Skills directory not found: {path}");
        let hint = "it is watched and will be read once it exists".to_owned();
        check("skills.root", false, message, Some(hint))
    };
    let agents = |root: &PathBuf| {
        let below = |path: &std::sync::Arc<std::path::Path>| path.starts_with(root);
        let loaded = snapshot.agents();
        let count = loaded
            .filter(|loaded| loaded.path.as_ref().is_some_and(below))
            .count();
        let message = format!("{} in {}", format_count(count, "agent"), root.display());
        check("agents.root", true, message, None)
    };
    let folders = library.options.agents.iter().filter(|root| root.is_dir());
    let roots = library.options.roots.iter().map(skills);
    roots.chain(folders.map(agents)).collect()
}

fn check_watches(library: &Library) -> SkillsCheck {
    let options = &library.options;
    match can_watch(&[options.roots.as_slice(), &options.agents].concat()) {
        Ok(()) => {
            let message = "the operating system reports file changes".to_owned();
            check("skills.watch", true, message, None)
        }
        Err(problem) => {
            let message = format!("file changes are found only by polling: {problem}");
            let hint = "raise the limit, for example `sysctl fs.inotify.max_user_watches=524288`";
            check("skills.watch", false, message, Some(hint.to_owned()))
        }
    }
}

/// Reports files and records with the same name. Only the record fires, which is easy to miss.
fn check_clashes(catalog: &SkillCatalog) -> Vec<SkillsCheck> {
    let clashes = catalog.clashes().into_iter();
    clashes
        .map(|(message, hint)| check("skills.clash", false, message, Some(hint)))
        .collect()
}

/// Reports skill folders of other hosts. They are read only if the configuration names them.
fn check_other_hosts(library: &Library) -> Vec<SkillsCheck> {
    let Some(home) = env::user_home() else {
        return Vec::new();
    };
    let folders = OTHER_HOSTS.iter().map(|folder| (folder, home.join(folder)));
    folders
        .filter(|(_, path)| path.is_dir() && !library.options.roots.contains(path))
        .map(|(folder, path)| {
            let message = format!("{} is not read", path.display());
            let hint = format!(
                "to read it, write `paths = [\"~/{folder}\"]` below `[skills]` in config.toml"
            );
            check("skills.other_host", true, message, Some(hint))
        })
        .collect()
}
