//! `deft skills doctor`: what became of each file, and why.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use deft_registry::discovery::is_hidden;
use deft_registry::{FileReport, Snapshot, State, can_watch};
use deft_skillfile::{Diagnostic, Lines, Severity};
use serde_json::{Value, json};

use super::stored::Stored;
use super::surroundings;
use crate::args::{Global, Roots};
use crate::failure::Done;
use crate::output::{Output, counted};
use crate::report::{diagnostic, excerpts, text_of};
use crate::terminal::Styled;
use deft_config::env;
use deft_service::Library;

/// Folders in which other hosts keep skills.
const OTHER_HOSTS: &[&str] = &[
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".cursor/skills",
    ".gemini/skills",
];

/// A check of the surroundings.
struct Check {
    id: &'static str,
    ok: bool,
    message: String,
    hint: Option<String>,
}

pub(crate) fn run(global: &Global, roots: &Roots, output: &Output) -> Done {
    let library = global.workspace_of(roots).library()?;
    let snapshot = global.workspace_of(roots).load_kept(&library);
    let mut checks = check_roots(&library, &snapshot);
    checks.push(check_watches(&library));
    if roots.roots.is_empty() {
        checks.extend(check_other_hosts(&library));
    }
    checks.extend(check_clashes(&snapshot, &Stored::read(global, roots)?));
    let around = surroundings::check(global, &snapshot, None);
    let broken = snapshot
        .files()
        .iter()
        .filter(|file| matches!(file.state, State::Broken { .. }))
        .count();
    if output.json {
        output.document(&document(&snapshot, &checks, &around, broken == 0))?;
    } else {
        print(&snapshot, &checks, &around, output)?;
        output.note(&format!(
            "{}, {} broken",
            counted(snapshot.skill_count(), "skill"),
            counted(broken, "file")
        ));
    }
    Ok(ExitCode::from(u8::from(broken > 0)))
}

/// The word for what became of a file: loaded, hidden, shadowed, broken, index
/// or ignored; with the reason where there is one.
fn verdict(file: &FileReport, snapshot: &Snapshot) -> (&'static str, Option<String>) {
    let first = file.diagnostics.iter().rev().max_by_key(|one| one.severity);
    let reason = first.map(|one| one.message.clone());
    match &file.state {
        State::Loaded(id) => match snapshot.skill(id.as_str()) {
            Some(loaded) if is_hidden(&loaded.skill) => (
                "hidden",
                Some("`disable-model-invocation` keeps it from models".to_owned()),
            ),
            Some(loaded) if !loaded.skill.policy.enabled => (
                "loaded",
                Some("`enabled: false` keeps it from firing".to_owned()),
            ),
            _ => (
                "loaded",
                reason.filter(|_| first.is_some_and(|one| one.severity == Severity::Warning)),
            ),
        },
        State::Agent(_) => (
            "agent",
            reason.filter(|_| first.is_some_and(|one| one.severity == Severity::Warning)),
        ),
        State::Index(_) => ("index", None),
        State::Shadowed { by, .. } => ("shadowed", Some(format!("{} comes first", by.display()))),
        State::Broken { kept } => {
            let kept = kept
                .as_ref()
                .map(|id| format!("; `{id}` stays as it was"))
                .unwrap_or_default();
            ("broken", reason.map(|reason| reason + &kept))
        }
        State::Ignored => ("ignored", reason),
    }
}

/// What is wrong with files in their surroundings, by path.
type Around = HashMap<PathBuf, Vec<Diagnostic>>;

fn print(snapshot: &Snapshot, checks: &[Check], around: &Around, output: &Output) -> Done<()> {
    for check in checks {
        let mark = if check.ok { "ok" } else { "warning" };
        output.data(format!("{mark:9} {}: {}", check.id, check.message))?;
        if let Some(hint) = &check.hint {
            output.data(format!("{:9} hint: {hint}", ""))?;
        }
    }
    for file in snapshot.files() {
        let (word, reason) = verdict(file, snapshot);
        let reason = reason
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        output.data(format!("{word:9} {}{reason}", file.path.display()))?;
        for found in around.get(&*file.path).into_iter().flatten() {
            let help = found.help.as_ref();
            let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
            let word = found.severity.word();
            output.data(format!("{:9} {word}: {}{help}", "", found.message))?;
        }
        // Broken files have an excerpt with help.
        if let Some(help) = file.left_out().and_then(|why| why.help.as_ref()) {
            output.data(format!("{:9} hint: {help}", ""))?;
        }
    }
    for file in snapshot
        .files()
        .iter()
        .filter(|file| matches!(file.state, State::Broken { .. }))
    {
        let errors: Vec<_> = file
            .diagnostics
            .iter()
            .filter(|one| one.severity == Severity::Error)
            .cloned()
            .collect();
        let path = file.path.display().to_string();
        let excerpts = excerpts(&path, &text_of(&file.path), &errors, output);
        output.data(Styled::from("\n").with(excerpts.trim_end()))?;
    }
    Ok(())
}

fn document(snapshot: &Snapshot, checks: &[Check], around: &Around, ok: bool) -> Value {
    let file = |file: &FileReport| {
        let (state, reason) = verdict(file, snapshot);
        let id = match &file.state {
            State::Loaded(id) | State::Broken { kept: Some(id) } => Some(id.to_string()),
            State::Shadowed { id, .. } | State::Index(id) | State::Agent(id) => Some(id.clone()),
            State::Broken { kept: None } | State::Ignored => None,
        };
        let around = around.get(&*file.path).map(Vec::as_slice);
        let all = file.diagnostics.iter().chain(around.unwrap_or_default());
        let all: Vec<&Diagnostic> = all.collect();
        let text = if all.is_empty() {
            String::new()
        } else {
            text_of(&file.path)
        };
        let lines = Lines::new(&text);
        json!({
            "path": file.path.display().to_string(),
            "root": file.root.display().to_string(),
            "state": state,
            "id": id,
            "reason": reason,
            "diagnostics": all.iter().map(|one| diagnostic(one, &lines)).collect::<Vec<_>>(),
        })
    };
    let check = |check: &Check| {
        let severity = if check.ok { "ok" } else { "warning" };
        json!({"id": check.id, "severity": severity, "message": check.message, "hint": check.hint})
    };
    json!({
        "ok": ok,
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
        "files": snapshot.files().iter().map(file).collect::<Vec<_>>(),
    })
}

fn check_roots(library: &Library, snapshot: &Snapshot) -> Vec<Check> {
    let check = |root: &PathBuf| {
        let exists = root.is_dir();
        let count = snapshot
            .skills()
            .filter(|loaded| loaded.path.starts_with(root))
            .count();
        Check {
            id: "skills.root",
            ok: exists,
            message: if exists {
                format!("{} in {}", counted(count, "skill"), root.display())
            } else {
                format!("Skills directory not found: {}", root.display())
            },
            hint: (!exists).then(|| "it is followed as soon as it is there".to_owned()),
        }
    };
    let agents = |root: &PathBuf| {
        let count = snapshot
            .agents()
            .filter(|loaded| (loaded.path.as_ref()).is_some_and(|path| path.starts_with(root)))
            .count();
        Check {
            id: "agents.root",
            ok: true,
            message: format!("{} in {}", counted(count, "agent"), root.display()),
            hint: None,
        }
    };
    let folders = library.options.agents.iter().filter(|root| root.is_dir());
    let skills = library.options.roots.iter().map(check);
    skills.chain(folders.map(agents)).collect()
}

fn check_watches(library: &Library) -> Check {
    let options = &library.options;
    let result = can_watch(&[options.roots.as_slice(), &options.agents].concat());
    Check {
        id: "skills.watch",
        ok: result.is_ok(),
        message: match &result {
            Ok(()) => "changes are noticed by events".to_owned(),
            Err(problem) => format!("changes are noticed by polling only: {problem}"),
        },
        hint: result.is_err().then(|| {
            "raise the limit, for example `sysctl fs.inotify.max_user_watches=524288`".to_owned()
        }),
    }
}

/// A file and a record of one name: only one of them fires, which nobody would guess.
fn check_clashes(snapshot: &Snapshot, stored: &Stored) -> Vec<Check> {
    let clashes = stored.clashes(snapshot).into_iter();
    clashes
        .map(|(message, hint)| Check {
            id: "skills.clash",
            ok: false,
            message,
            hint: Some(hint),
        })
        .collect()
}

/// Skills of other hosts are read only when they are asked for; say where some
/// are.
fn check_other_hosts(library: &Library) -> Vec<Check> {
    let Some(home) = env::user_home() else {
        return Vec::new();
    };
    let folders = OTHER_HOSTS.iter().map(|folder| (folder, home.join(folder)));
    folders
        .filter(|(_, path)| path.is_dir() && !library.options.roots.contains(path))
        .map(|(folder, path)| Check {
            id: "skills.other_host",
            ok: true,
            message: format!("{} is not read", path.display()),
            hint: Some(format!(
                "to read it, write `paths = [\"~/{folder}\"]` below `[skills]` in config.toml"
            )),
        })
        .collect()
}
