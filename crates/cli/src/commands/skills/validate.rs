//! `deft skills validate`: needs no home and no daemon.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_registry::{
    FileReport, MAX_FILE_BYTES, Options, Snapshot, State, read_regular, refusal, skill_mds,
};
use deft_skillfile::{Diagnostic, Document, FileKind, Moment, Place, Profile, Rule, parse};
use rayon::prelude::*;

use super::surroundings;
use crate::args::{Format, Global, ProfileName, Validate};
use crate::failure::{Done, Failure};
use crate::output::Output;
use crate::report::{self, Checked, excerpts};
use deft_config::system_moment;

pub(crate) fn run(args: &Validate, global: &Global, output: &Output) -> Done {
    let format = format(args.format, output.json)?;
    let moment = system_moment();
    let mut files = Vec::new();
    for path in &args.paths {
        files.extend(check(path, args.profile, &moment, global)?);
    }
    if files.is_empty() {
        let shown: Vec<String> = args
            .paths
            .iter()
            .map(|path| format!("`{}`", path.display()))
            .collect();
        return Err(Failure::input(
            "nothing_to_check",
            format!("there are no skill files in {}", shown.join(", ")),
        )
        .hint("deft knows SKILL.md, markdown with frontmatter, and YAML with `steps`"));
    }
    let ok = files.iter().all(Checked::is_ok);
    report::print(files, format, output)?;
    Ok(ExitCode::from(u8::from(!ok)))
}

/// `--json` promises a JSON document, so it cannot go with another format.
fn format(asked: Option<Format>, json: bool) -> Done<Format> {
    match (asked, json) {
        (None, false) => Ok(Format::Text),
        (None, true) => Ok(Format::Json),
        (Some(format @ (Format::Json | Format::Sarif)), _) | (Some(format), false) => Ok(format),
        (Some(Format::Text | Format::Github), true) => Err(Failure::input(
            "usage",
            "`--json` and this `--format` exclude each other",
        )
        .hint("leave one of them out")),
    }
}

fn check(
    path: &Path,
    profile: ProfileName,
    moment: &Moment,
    global: &Global,
) -> Done<Vec<Checked>> {
    let metadata = path
        .metadata()
        .map_err(|problem| Failure::file(path, "read", &problem))?;
    match (metadata.is_dir(), profile) {
        (false, ProfileName::Deft) => check_alone(path, moment, global).map(|one| vec![one]),
        (false, ProfileName::Agentskills) => Ok(vec![check_file(path, profile, moment)?]),
        (true, ProfileName::Agentskills) => Ok(check_strictly(path, moment)),
        (true, ProfileName::Deft) => Ok(check_folder(path, moment, global)),
    }
}

/// One file that was named. It is meant to be a skill, so a file that is none
/// is an error here.
fn check_file(path: &Path, profile: ProfileName, moment: &Moment) -> Done<Checked> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    if FileKind::of(name).is_none() {
        return Err(Failure::input(
            "not_a_skill",
            format!("`{}` is not a skill file", path.display()),
        )
        .hint("deft knows SKILL.md, AGENT.md, *.md, *.yaml, *.yml and *.json"));
    }
    let profile = match profile {
        ProfileName::Deft => Profile::Deft,
        ProfileName::Agentskills => Profile::AgentSkills,
    };
    let mut checked = read(path, path, profile, moment);
    for found in checked
        .diagnostics
        .iter_mut()
        .filter(|found| found.rule == Rule::NotASkill)
    {
        found.severity = deft_skillfile::Severity::Error;
    }
    Ok(checked)
}

/// One file, with what is known of its folder and of the home.
fn check_alone(path: &Path, moment: &Moment, global: &Global) -> Done<Checked> {
    let mut checked = check_file(path, ProfileName::Deft, moment)?;
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    if let Some(folder) = full.parent().filter(|_| checked.is_ok()) {
        let snapshot = Snapshot::load(&Options::new([folder.to_path_buf()]), moment);
        let mut found = surroundings::check(global, &snapshot, home_skills(global).as_ref());
        let found = found.remove(&full).unwrap_or_default();
        checked.diagnostics.extend(found);
    }
    Ok(checked)
}

/// The skills of the home, if there is one.
fn home_skills(global: &Global) -> Option<Snapshot> {
    let home = global
        .workspace()
        .locate()
        .ok()
        .filter(|home| home.is_dir());
    home.and_then(|_| global.workspace().library().ok())
        .map(|library| library.load())
}

/// Prints why a file cannot be loaded, and gives the first reason.
pub(crate) fn explain(path: &Path, output: &Output) -> Option<String> {
    let checked = check_file(path, ProfileName::Deft, &system_moment()).ok()?;
    let errors = checked.diagnostics.iter();
    let errors: Vec<Diagnostic> = errors
        .filter(|one| one.severity == deft_skillfile::Severity::Error)
        .cloned()
        .collect();
    if !output.json {
        let text = checked.text();
        let shown = excerpts(&checked.shown, &text, &errors, output);
        crate::output::say(shown.trim_end());
    }
    errors.first().map(|one| one.message.clone())
}

/// Every `SKILL.md` below a folder, by the reference's rules.
fn check_strictly(folder: &Path, moment: &Moment) -> Vec<Checked> {
    let paths = skill_mds(folder);
    paths
        .par_iter()
        .map(|path| read(path, path, Profile::AgentSkills, moment))
        .collect()
}

fn read(path: &Path, shown: &Path, profile: Profile, moment: &Moment) -> Checked {
    let file = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let folder = folder_of(path);
    let parent = folder.as_deref();
    let is_skill_md = FileKind::of(file) == Some(FileKind::SkillMd);
    let place = Place {
        file,
        folder: parent.unwrap_or_default(),
        domain: parent.filter(|_| !is_skill_md),
    };
    let mut checked = Checked {
        shown: shown.display().to_string(),
        path: path.to_path_buf(),
        dialect: dialect(file),
        diagnostics: Vec::new(),
        properties: None,
    };
    match read_regular(path, MAX_FILE_BYTES) {
        Ok(bytes) => {
            let parsed = parse(&bytes, &place, profile, moment);
            if matches!(parsed.document, Some(Document::Domain(_))) {
                checked.dialect = "domain";
            }
            checked.diagnostics = parsed.diagnostics;
            checked.properties = parsed.properties;
        }
        Err(problem) => checked.diagnostics.push(refusal(&problem)),
    }
    checked
}

/// The name of the folder that a file is in; a relative path may not say it.
fn folder_of(path: &Path) -> Option<String> {
    let name = |path: &Path| path.parent()?.file_name()?.to_str().map(str::to_owned);
    name(path).or_else(|| name(&std::path::absolute(path).ok()?))
}

fn dialect(file: &str) -> &'static str {
    match FileKind::of(file) {
        Some(FileKind::SkillMd) => "agentskills",
        Some(FileKind::AgentMd) => "agent",
        Some(FileKind::Markdown) => "manpage",
        Some(FileKind::Workflow) => "workflow",
        Some(FileKind::Record) => "record",
        None => "folder",
    }
}

/// Everything below a folder, as the registry would load it. Files that are
/// no skills are left out: a checkout is full of them.
fn check_folder(folder: &Path, moment: &Moment, global: &Global) -> Vec<Checked> {
    let root = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
    let options = if holds_agents(&root) {
        Options::new([]).with_agents([root.clone()])
    } else {
        Options::new([root.clone()])
    };
    let snapshot = Snapshot::load(&options, moment);
    let meant = |file: &&FileReport| {
        file.state != State::Ignored
            || file
                .diagnostics
                .iter()
                .any(|found| found.rule != Rule::NotASkill)
    };
    let mut found = surroundings::check(global, &snapshot, home_skills(global).as_ref());
    let mut files: Vec<Checked> = snapshot
        .files()
        .iter()
        .filter(meant)
        .map(|file| {
            let mut checked = from_report(file, folder, &root);
            let found = found.remove(&*file.path).unwrap_or_default();
            checked.diagnostics.extend(found);
            checked
        })
        .collect();
    files.sort_by(|a, b| a.shown.cmp(&b.shown));
    files
}

/// Whether a folder is one of agents: those in it have an `AGENT.md`, and none is a skill.
fn holds_agents(root: &Path) -> bool {
    let folders: Vec<PathBuf> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let has = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    has("AGENT.md") && !has("SKILL.md")
}

fn from_report(file: &FileReport, folder: &Path, root: &Path) -> Checked {
    let below = file.path.strip_prefix(root).unwrap_or(&file.path);
    let shown: PathBuf = if below.as_os_str().is_empty() {
        folder.to_path_buf()
    } else {
        folder.join(below)
    };
    let name = file
        .path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    Checked {
        shown: shown.display().to_string(),
        path: file.path.to_path_buf(),
        dialect: if matches!(file.state, State::Index(_)) {
            "domain"
        } else {
            dialect(name)
        },
        diagnostics: file
            .diagnostics
            .iter()
            .map(|one| as_given(one, folder, root))
            .collect(),
        properties: None,
    }
}

/// Other files are named by their full path; here paths are shown as given.
fn as_given(found: &Diagnostic, folder: &Path, root: &Path) -> Diagnostic {
    let full = root.display().to_string();
    let mut found = found.clone();
    found.message = found.message.replace(&full, &folder.display().to_string());
    found
}
