//! Finds the skills to import, and the target path of each file.
use std::path::{Path, PathBuf};

use deft_model::{Body, Dialect, Role, Skill};
use deft_registry::{FileReport, LoadedSkill, Options, Snapshot, State};
use deft_skillfile::{Diagnostic, FileKind, Moment, Rule, Severity};

use super::claude::{self, ClaudeFile, ClaudeRole, ConvertedForm, ConvertedPage};
use super::layout::Part;
use crate::skills::files::{FileRefusal, PlannedFile, copy_siblings};
use crate::skills::finding::{Finding, locate};
use deft_config::{Config, Home};
use deft_wire::skill_files::{ImportKind, UnmappedNode};
use deft_wire::{Done, Failure};

/// A skill, an agent or the index of a domain, with its files.
pub(super) struct Item {
    /// The id of the skill or agent, or the name of the domain.
    pub id: String,
    pub part: Part,
    pub kind: ImportKind,
    /// The original file that defines it.
    pub source: PathBuf,
    /// The files to write; the first one defines it.
    pub files: Vec<PlannedFile>,
    /// Its files that are not copied.
    pub left_out: Vec<FileRefusal>,
    /// Differences to the original.
    pub notes: Vec<String>,
    /// Whether it does not fire before the user enables it.
    pub disabled: bool,
    /// The tools of deft that its steps call, if it was converted from another format.
    pub tools: Vec<String>,
}

impl Item {
    pub(super) fn new(id: String, kind: ImportKind, source: &Path, file: PlannedFile) -> Self {
        let part = match kind {
            ImportKind::Skill | ImportKind::Playbook => Part::Owner(id.clone()),
            ImportKind::Domain => Part::Index,
            ImportKind::ManPage | ImportKind::Workflow => Part::Page,
            ImportKind::Agent => Part::Agent,
        };
        Self {
            id,
            part,
            kind,
            source: source.to_path_buf(),
            files: vec![file],
            left_out: Vec::new(),
            notes: Vec::new(),
            disabled: false,
            tools: Vec::new(),
        }
    }
}

/// The skills found in all sources, and the refused files.
pub(super) struct GatheredSkills<'a> {
    pub items: Vec<Item>,
    pub refused: Vec<FileRefusal>,
    pub unmapped: Vec<UnmappedNode>,
    pub(super) skills: PathBuf,
    agents: PathBuf,
    config: &'a Config,
    pub(super) moment: Moment,
}

impl<'a> GatheredSkills<'a> {
    pub(super) fn new(home: &'a Home) -> Self {
        Self {
            items: Vec::new(),
            refused: Vec::new(),
            unmapped: Vec::new(),
            skills: home.skills(),
            agents: home.agents(),
            config: &home.config,
            moment: home.moment(),
        }
    }

    pub(super) fn add(&mut self, path: &Path) -> Done<()> {
        let fail = |problem: std::io::Error| Failure::file(path, "read", &problem);
        let metadata = path.metadata().map_err(fail)?;
        let name = path.file_name().and_then(|name| name.to_str());
        match (metadata.is_dir(), name.and_then(FileKind::from_name)) {
            (true, _) => self.add_folder(&path.canonicalize().map_err(fail)?),
            (false, Some(FileKind::Record)) => self.add_json(path),
            (false, Some(FileKind::SkillMd)) => {
                // A bare file name has an empty parent, which is not a valid folder.
                let parent = path.parent().filter(|parent| *parent != Path::new(""));
                let folder = parent.unwrap_or(Path::new("."));
                self.add_folder(&folder.canonicalize().map_err(fail)?);
            }
            (false, Some(FileKind::Markdown | FileKind::Workflow)) => {
                self.add_one(&path.canonicalize().map_err(fail)?);
            }
            (false, Some(FileKind::AgentMd)) => {
                let message = format!("`{}` is an agent, not a skill", path.display());
                return Err(Failure::input("not_a_skill", message)
                    .hint("copy its folder below `agents` in the home"));
            }
            (false, None) => {
                let message = format!("`{}` is not a skill file", path.display());
                return Err(Failure::input("not_a_skill", message)
                    .hint("deft knows SKILL.md, *.md, *.yaml, *.yml, *.json, *.zip, *.tar, *.tar.gz and *.crontab"));
            }
        }
        Ok(())
    }

    /// Adds everything that loads from a folder, with its relative paths.
    fn add_folder(&mut self, root: &Path) {
        let snapshot = Snapshot::load(&Options::new([root.to_path_buf()]), &self.moment);
        let pages = claude::find(root);
        let is_page = |path: &Path| pages.iter().any(|page| page.path == path);
        for file in snapshot.files().iter().filter(|file| !is_page(&file.path)) {
            self.add_report(file, &snapshot, root);
        }
        pages.iter().for_each(|page| self.add_claude(page));
    }

    /// Adds the converted form of a page of Claude Code.
    fn add_claude(&mut self, page: &ClaudeFile) {
        let converted = match page.role {
            ClaudeRole::Agent => claude::agent(&page.path, self.config, &self.moment),
            ClaudeRole::Command => claude::command(page, &self.moment),
        };
        match converted {
            Ok(converted) => self.add_converted(&page.path, converted),
            Err(reason) => self.refuse(&page.path, reason),
        }
    }

    fn add_converted(&mut self, source: &Path, converted: ConvertedPage) {
        let id = converted.id;
        let (kind, to) = match converted.form {
            ConvertedForm::Agent => (ImportKind::Agent, self.agents.join(&id).join("AGENT.md")),
            ConvertedForm::Playbook => {
                (ImportKind::Playbook, self.skills.join(&id).join("SKILL.md"))
            }
            ConvertedForm::Workflow => {
                (ImportKind::Workflow, self.skills.join(format!("{id}.yaml")))
            }
        };
        let file = PlannedFile::new(to, converted.content);
        self.items.push(Item {
            notes: converted.notes,
            ..Item::new(id, kind, source, file)
        });
    }

    /// Adds a single file, parsed as part of its folder.
    fn add_one(&mut self, path: &Path) {
        if let Some(page) = claude::find_one(path) {
            return self.add_claude(&page);
        }
        let parent = path.parent().unwrap_or(Path::new("/"));
        let snapshot = Snapshot::load(&Options::new([parent.to_path_buf()]), &self.moment);
        let mut files = snapshot.files().iter();
        let file = files.find(|file| *file.path == *path && file.state != State::Ignored);
        let is_page = path.extension().is_some_and(|ending| ending == "md");
        // The folder of a page is part of its name.
        let root = parent.parent().filter(|_| is_page).unwrap_or(parent);
        match file {
            Some(file) => self.add_report(file, &snapshot, root),
            None => self.refuse(path, "it is not a skill"),
        }
    }

    fn add_report(&mut self, file: &FileReport, snapshot: &Snapshot, root: &Path) {
        match &file.state {
            State::Loaded(id) => {
                let before = self.items.len();
                if let Some(loaded) = snapshot.skill(id.as_str()) {
                    self.add_loaded(loaded, snapshot, root);
                }
                if let Some(item) = self.items.get_mut(before) {
                    item.notes.extend(repairs(file));
                }
            }
            State::Index(domain) => {
                let to = self.skills.join(domain).join("SKILL.md");
                self.copy(&file.path, to, domain.clone(), ImportKind::Domain);
            }
            State::Broken { .. } => self.refuse(&file.path, placed_error(file)),
            State::Shadowed { by, .. } => {
                self.refuse(
                    &file.path,
                    format!("`{}` defines the same skill", by.display()),
                );
            }
            State::Agent(_) => {}
            State::Ignored => {
                if let Some(why) = file.left_out() {
                    self.refuse(&file.path, why.message.clone());
                }
            }
        }
    }

    fn add_loaded(&mut self, loaded: &LoadedSkill, snapshot: &Snapshot, root: &Path) {
        let id = loaded.skill.id.to_string();
        if !is_skill_md(&loaded.path) {
            let to = self.skills.join(place(loaded, root));
            let kind = match loaded.skill.dialect {
                Dialect::ManPage => ImportKind::ManPage,
                Dialect::AgentSkills | Dialect::Workflow | Dialect::Record => ImportKind::Workflow,
            };
            if let Some(item) = self.copy(&loaded.path, to, id, kind) {
                item.disabled = starts_disabled(&loaded.skill);
            }
            return;
        }
        let folder = loaded.path.parent().unwrap_or(root);
        let to = self.skills.join(target_folder(folder, snapshot));
        let kind = match loaded.skill.role() {
            Some(Role::Playbook) => ImportKind::Playbook,
            Some(Role::Knowledge) | None => ImportKind::Skill,
        };
        if let Some(item) = self.copy(&loaded.path, to.join("SKILL.md"), id, kind) {
            let (files, left_out) = copy_siblings(loaded, &to);
            item.disabled = starts_disabled(&loaded.skill);
            item.files.extend(files);
            item.left_out = left_out;
        }
    }

    fn copy(
        &mut self,
        from: &Path,
        to: PathBuf,
        id: String,
        kind: ImportKind,
    ) -> Option<&mut Item> {
        match PlannedFile::copy(from, to) {
            Ok(file) => self.items.push(Item::new(id, kind, from, file)),
            Err(problem) => {
                self.refuse(from, format!("cannot be read: {problem}"));
                return None;
            }
        }
        self.items.last_mut()
    }

    pub(super) fn refuse(&mut self, path: &Path, reason: impl Into<String>) {
        self.refused.push(FileRefusal::new(path, reason));
    }
}

/// Whether a skill with a schedule is disabled until the user enables it.
pub(super) fn starts_disabled(skill: &Skill) -> bool {
    !skill.policy.enabled && skill.timing.is_some()
}

pub(super) fn first_error(found: &[Diagnostic]) -> String {
    let first = found.iter().find(|one| one.severity == Severity::Error);
    first.map(|one| one.message.clone()).unwrap_or_default()
}

/// Returns the first error with its line.
fn placed_error(file: &FileReport) -> String {
    let mut errors = file.diagnostics.iter();
    let first = errors.find(|one| one.severity == Severity::Error);
    let mut found = locate(&file.path, first).into_iter();
    found.next().map(format_finding).unwrap_or_default()
}

/// Returns warnings about invalid YAML that was accepted. Other hosts may refuse such a file.
fn repairs(file: &FileReport) -> Vec<String> {
    let repaired = file.diagnostics.iter();
    let repaired = repaired.filter(|one| one.rule == Rule::RepairedYaml);
    let found = locate(&file.path, repaired).into_iter();
    found.map(format_finding).collect()
}

fn format_finding(found: Finding) -> String {
    match found.place {
        Some(place) => format!("line {}: {}", place.line, found.message),
        None => found.message,
    }
}

fn is_skill_md(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.and_then(FileKind::from_name) == Some(FileKind::SkillMd)
}

/// Returns the target path of a skill that consists of one file.
fn place(loaded: &LoadedSkill, root: &Path) -> PathBuf {
    match (&loaded.skill.body, loaded.skill.id.as_str().split_once('.')) {
        // The name of a man page determines its path, regardless of its origin.
        (Body::Manual { .. }, Some((domain, action))) => {
            Path::new(domain).join(format!("{action}.md"))
        }
        _ => {
            let name = Path::new(loaded.path.file_name().unwrap_or_default());
            loaded.path.strip_prefix(root).unwrap_or(name).to_path_buf()
        }
    }
}

/// Returns the target folder of a skill. A skill nested in another skill's folder stays nested, so that links
/// between the two keep working.
fn target_folder(folder: &Path, snapshot: &Snapshot) -> PathBuf {
    let owners = snapshot.files().iter().filter(|file| {
        let is_skill = !matches!(file.state, State::Index(_) | State::Ignored);
        is_skill && is_skill_md(&file.path)
    });
    let above = owners.filter_map(|file| file.path.parent());
    let outermost = above
        .filter(|owner| folder.starts_with(owner))
        .min_by_key(|owner| owner.components().count())
        .unwrap_or(folder);
    let name = Path::new(outermost.file_name().unwrap_or_default());
    match folder.strip_prefix(outermost) {
        Ok(below) if below != Path::new("") => name.join(below),
        _ => name.to_path_buf(),
    }
}
