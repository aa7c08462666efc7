//! Checks skill files. Needs no home and no daemon.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use deft_config::system_moment;
use deft_model::Object;
use deft_registry::{
    FileReport, MAX_FILE_BYTES, Options, Snapshot, State, read_regular, refusal, skill_mds,
};
use deft_skillfile::{
    Diagnostic, Document, FileKind, FileLocation, Moment, Profile, Rule, Severity, has_errors,
    parse,
};
use deft_wire::diagnostic::ValidatedFile;
use deft_wire::{Done, Failure};
use rayon::prelude::*;

use super::finding::{CheckedFile, locate, locate_in};
use super::surroundings::check_surroundings;
use crate::workspace::Workspace;

/// The rules to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationProfile {
    /// Lenient: accepts whatever deft can load, and warns about the rest.
    Deft,
    /// The rules of the open format's reference validator.
    AgentSkills,
}

/// Checks files and folders.
pub fn validate(
    workspace: &Workspace,
    paths: &[PathBuf],
    profile: ValidationProfile,
) -> Done<Vec<CheckedFile>> {
    let validator = Validator {
        workspace: workspace.with_roots(&[]),
        moment: system_moment(),
    };
    let mut files = Vec::new();
    for path in paths {
        let found = validator.check(path, profile)?;
        files.extend(found.into_iter().map(Draft::finish));
    }
    if files.is_empty() {
        let shown = paths.iter().map(|path| format!("`{}`", path.display()));
        let shown: Vec<String> = shown.collect();
        return Err(Failure::input(
            "nothing_to_check",
            format!("no skill files in {}", shown.join(", ")),
        )
        .hint("deft knows SKILL.md, markdown with frontmatter, and YAML with `steps`"));
    }
    Ok(files)
}

/// Checks a single file; `None` if it is not a skill file.
pub fn validate_file(path: &Path) -> Option<CheckedFile> {
    let draft = check_file(path, ValidationProfile::Deft, &system_moment()).ok()?;
    Some(draft.finish())
}

/// A file during a check.
struct Draft {
    shown: String,
    path: PathBuf,
    dialect: &'static str,
    diagnostics: Vec<Diagnostic>,
    properties: Option<Object>,
}

impl Draft {
    fn finish(self) -> CheckedFile {
        CheckedFile {
            findings: locate(&self.path, &self.diagnostics),
            shown: self.shown,
            path: self.path,
            dialect: self.dialect,
            properties: self.properties,
        }
    }
}

struct Validator {
    workspace: Workspace,
    moment: Moment,
}

impl Validator {
    fn check(&self, path: &Path, profile: ValidationProfile) -> Done<Vec<Draft>> {
        use ValidationProfile::{AgentSkills, Deft};
        let metadata = path
            .metadata()
            .map_err(|problem| Failure::file(path, "read", &problem))?;
        match (metadata.is_dir(), profile) {
            (false, Deft) => self.check_alone(path).map(|one| vec![one]),
            (false, AgentSkills) => Ok(vec![check_file(path, profile, &self.moment)?]),
            (true, AgentSkills) => Ok(check_strictly(path, &self.moment)),
            (true, Deft) => Ok(self.check_folder(path)),
        }
    }

    /// Checks a file together with its folder and the home.
    fn check_alone(&self, path: &Path) -> Done<Draft> {
        let mut draft = check_file(path, ValidationProfile::Deft, &self.moment)?;
        let full = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let is_ok = !has_errors(&draft.diagnostics);
        if let Some(folder) = full.parent().filter(|_| is_ok) {
            let snapshot = Snapshot::load(&Options::new([folder.to_path_buf()]), &self.moment);
            let home = self.home_skills();
            let mut found = self.check_surroundings(&snapshot, home.as_ref());
            let found = found.remove(&full).unwrap_or_default();
            draft.diagnostics.extend(found);
        }
        Ok(draft)
    }

    /// Returns the problems with unknown tools and skills, by file. A file can be checked without a home, so
    /// a home that cannot be read is only logged.
    fn check_surroundings(
        &self,
        snapshot: &Snapshot,
        home: Option<&Snapshot>,
    ) -> HashMap<PathBuf, Vec<Diagnostic>> {
        check_surroundings(&self.workspace, snapshot, home).unwrap_or_else(|failure| {
            let why = failure.message;
            tracing::warn!(why, "cannot check for unknown tools and skills");
            HashMap::new()
        })
    }

    /// Returns the skills of the home, if it exists.
    fn home_skills(&self) -> Option<Snapshot> {
        let home = self.workspace.locate().ok();
        home.filter(|home| home.is_dir())
            .and_then(|_| self.workspace.library().ok())
            .map(|library| library.load())
    }

    /// Checks all files below a folder that the registry would load. Other files are ignored, because a
    /// checkout has many of them.
    fn check_folder(&self, folder: &Path) -> Vec<Draft> {
        let root = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let options = if holds_agents(&root) {
            Options::new([]).with_agents([root.clone()])
        } else {
            Options::new([root.clone()])
        };
        let snapshot = Snapshot::load(&options, &self.moment);
        let meant = |file: &&FileReport| {
            let mut found = file.diagnostics.iter();
            file.state != State::Ignored || found.any(|one| one.rule != Rule::NotASkill)
        };
        let home = self.home_skills();
        let mut found = self.check_surroundings(&snapshot, home.as_ref());
        let mut files: Vec<Draft> = snapshot
            .files()
            .iter()
            .filter(meant)
            .map(|file| {
                let mut draft = from_report(file, folder, &root);
                let found = found.remove(&*file.path).unwrap_or_default();
                draft.diagnostics.extend(found);
                draft
            })
            .collect();
        files.sort_by(|a, b| a.shown.cmp(&b.shown));
        files
    }
}

/// Fails if the file cannot be a skill. The caller named this file, so it is expected to be one.
fn check_kind(path: &Path) -> Done<()> {
    if FileKind::from_name(file_name(path)).is_some() {
        return Ok(());
    }
    let message = format!("`{}` is not a skill file", path.display());
    Err(Failure::input("not_a_skill", message)
        .hint("deft knows SKILL.md, AGENT.md, *.md, *.yaml, *.yml and *.json"))
}

fn check_file(path: &Path, profile: ValidationProfile, moment: &Moment) -> Done<Draft> {
    check_kind(path)?;
    let profile = match profile {
        ValidationProfile::Deft => Profile::Deft,
        ValidationProfile::AgentSkills => Profile::AgentSkills,
    };
    let mut draft = read(path, profile, moment);
    for found in &mut draft.diagnostics {
        if found.rule == Rule::NotASkill {
            found.severity = Severity::Error;
        }
    }
    Ok(draft)
}

/// Checks each `SKILL.md` below a folder with the rules of the reference validator.
fn check_strictly(folder: &Path, moment: &Moment) -> Vec<Draft> {
    let paths = skill_mds(folder);
    paths
        .par_iter()
        .map(|path| read(path, Profile::AgentSkills, moment))
        .collect()
}

fn read(path: &Path, profile: Profile, moment: &Moment) -> Draft {
    let content = read_regular(path, MAX_FILE_BYTES);
    read_content(path, content.as_deref(), profile, moment)
}

fn read_content(
    path: &Path,
    content: Result<&[u8], &std::io::Error>,
    profile: Profile,
    moment: &Moment,
) -> Draft {
    let file = file_name(path);
    let folder = folder_of(path);
    let parent = folder.as_deref();
    let is_skill_md = FileKind::from_name(file) == Some(FileKind::SkillMd);
    let location = FileLocation {
        file,
        folder: parent.unwrap_or_default(),
        domain: parent.filter(|_| !is_skill_md),
    };
    let mut draft = Draft {
        shown: path.display().to_string(),
        path: path.to_path_buf(),
        dialect: dialect(file),
        diagnostics: Vec::new(),
        properties: None,
    };
    match content {
        Ok(bytes) => {
            let parsed = parse(bytes, &location, profile, moment);
            if matches!(parsed.document, Some(Document::Domain(_))) {
                draft.dialect = "domain";
            }
            draft.diagnostics = parsed.diagnostics;
            draft.properties = parsed.properties;
        }
        Err(problem) => draft.diagnostics.push(refusal(problem)),
    }
    draft
}

/// Checks a text as the content of the file at `path`.
pub fn validate_text(path: &Path, text: &str) -> Done<ValidatedFile> {
    check_kind(path)?;
    let draft = read_content(path, Ok(text.as_bytes()), Profile::Deft, &system_moment());
    let checked = CheckedFile {
        findings: locate_in(text, &draft.diagnostics),
        shown: draft.shown,
        path: draft.path,
        dialect: draft.dialect,
        properties: draft.properties,
    };
    Ok(checked.view())
}

fn file_name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}

/// Returns the name of the folder of a file, resolving a relative path if necessary.
fn folder_of(path: &Path) -> Option<String> {
    let name = |path: &Path| path.parent()?.file_name()?.to_str().map(str::to_owned);
    name(path).or_else(|| name(&std::path::absolute(path).ok()?))
}

fn dialect(file: &str) -> &'static str {
    match FileKind::from_name(file) {
        Some(FileKind::SkillMd) => "agentskills",
        Some(FileKind::AgentMd) => "agent",
        Some(FileKind::Markdown) => "manpage",
        Some(FileKind::Workflow) => "workflow",
        Some(FileKind::Record) => "record",
        None => "folder",
    }
}

/// Whether a folder has agents: some subfolder has an `AGENT.md`, and none has a `SKILL.md`.
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

fn from_report(file: &FileReport, folder: &Path, root: &Path) -> Draft {
    let below = file.path.strip_prefix(root).unwrap_or(&file.path);
    let shown: PathBuf = if below.as_os_str().is_empty() {
        folder.to_path_buf()
    } else {
        folder.join(below)
    };
    let diagnostics = file.diagnostics.iter();
    Draft {
        shown: shown.display().to_string(),
        path: file.path.to_path_buf(),
        dialect: if matches!(file.state, State::Index(_)) {
            "domain"
        } else {
            dialect(file_name(&file.path))
        },
        diagnostics: diagnostics.map(|one| as_given(one, folder, root)).collect(),
        properties: None,
    }
}

/// Replaces absolute paths in a message by paths as the caller gave them.
fn as_given(found: &Diagnostic, folder: &Path, root: &Path) -> Diagnostic {
    let full = root.display().to_string();
    let mut found = found.clone();
    found.message = found.message.replace(&full, &folder.display().to_string());
    found
}
