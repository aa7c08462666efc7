//! Exports skills, unchanged or in another dialect.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use deft_model::{Body, Dialect, Skill, Step};
use deft_registry::{LoadedSkill, Snapshot};
use deft_skillfile::{Schema, is_dotted, render, schema};
use deft_wire::skill_files::{BinaryFile, ExportedFile, LostParts, PrintedExport, WrittenExport};
use deft_wire::{Done, Failure};

use super::catalog::find_file;
use super::editor_commands::is_exposed;
use super::files::{FileRefusal, PlannedFile, check_conflicts, copy_siblings};
use super::host;
use crate::workspace::Workspace;

/// The dialect of an exported skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportDialect {
    /// A `SKILL.md` that passes the open format's validator.
    AgentSkills,
    /// A man page.
    ManPage,
    /// A YAML workflow.
    Workflow,
    /// A JSON record.
    Record,
}

/// Skills prepared to be written or printed.
#[derive(Debug, Default)]
pub struct Export {
    files: Vec<PlannedFile>,
    refused: Vec<FileRefusal>,
    lost: Vec<LostParts>,
}

/// Prepares skills for an export; all if `names` is empty. Without a dialect their files stay unchanged.
/// `to_folder` is true if they will be written to a folder.
pub fn export(
    workspace: &Workspace,
    names: &[String],
    dialect: Option<ExportDialect>,
    to_folder: bool,
) -> Done<Export> {
    let snapshot = workspace.library()?.load();
    let mut export = Export::default();
    for loaded in select(&snapshot, names)? {
        match dialect {
            Some(dialect) => export.convert(loaded, dialect, to_folder)?,
            None => export.copy(loaded)?,
        }
    }
    Ok(export)
}

/// Which skills are exported as folders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostFolders {
    /// All skills.
    All,
    /// Skills without a command file: if a skill had both, a host would show only the folder.
    NotExposed,
}

/// Prepares skills for other hosts, as folders of the open format; all if `names` is empty.
pub fn export_for_host(
    workspace: &Workspace,
    names: &[String],
    folders: HostFolders,
) -> Done<Export> {
    let snapshot = workspace.library()?.load();
    let mut export = Export::default();
    for loaded in select(&snapshot, names)? {
        if folders == HostFolders::NotExposed && is_exposed(&loaded.skill) {
            continue;
        }
        let (files, refused) = host::files(loaded);
        export.files.extend(files);
        export.refused.extend(refused);
    }
    Ok(export)
}

/// Returns the named skills; all if `names` is empty.
fn select<'a>(snapshot: &'a Snapshot, names: &[String]) -> Done<Vec<&'a LoadedSkill>> {
    if !names.is_empty() {
        return names.iter().map(|name| find_file(snapshot, name)).collect();
    }
    let all: Vec<&LoadedSkill> = snapshot.skills().map(|loaded| &**loaded).collect();
    if all.is_empty() {
        return Err(Failure::input("no_skills", "no skills to export")
            .hint("`deft skills list` shows all skills"));
    }
    Ok(all)
}

impl Export {
    /// Writes the files below `folder`.
    pub fn write(mut self, folder: &Path, force: bool, dry_run: bool) -> Done<WrittenExport> {
        for file in &mut self.files {
            file.path = folder.join(&file.path);
        }
        check_distinct_paths(&self.files)?;
        check_conflicts(&self.files, force)?;
        if !dry_run {
            self.files.iter().try_for_each(PlannedFile::write)?;
        }
        let paths = self.files.iter().map(|file| &file.path);
        Ok(WrittenExport {
            files: paths.map(|path| path.display().to_string()).collect(),
            ok: self.refused.is_empty(),
            refused: self.refused.iter().map(FileRefusal::view).collect(),
            lost: self.lost,
            removed: Vec::new(),
            dry_run,
        })
    }

    /// Returns all files in one document.
    pub fn document(&self) -> PrintedExport {
        let files: Vec<ExportedFile> = self.files.iter().map(view).collect();
        let binary = files.iter().any(|file| file.binary.is_some());
        let hint = "`--to DIR` writes files that are not text";
        PrintedExport {
            files,
            lost: self.lost.clone(),
            refused: self.refused.iter().map(FileRefusal::view).collect(),
            hint: binary.then(|| hint.to_owned()),
        }
    }

    /// Returns the content of the only file; fails if there are several.
    pub fn only_text(&self) -> Done<String> {
        let [only] = self.files.as_slice() else {
            let count = crate::words::format_count(self.files.len(), "file");
            return Err(
                Failure::input("many_files", format!("{count} cannot be printed as one"))
                    .hint("`--to DIR` writes them, `--json` prints them in one document"),
            );
        };
        Ok(String::from_utf8_lossy(&only.content).into_owned())
    }

    /// Adds the unchanged files of a skill, below the folder names that its dialect needs.
    fn copy(&mut self, loaded: &LoadedSkill) -> Done<()> {
        let name = Path::new(loaded.path.file_name().unwrap_or_default());
        let folder = loaded.path.parent().unwrap_or(Path::new(""));
        let below = match loaded.skill.dialect {
            Dialect::AgentSkills => PathBuf::from(folder.file_name().unwrap_or_default()),
            Dialect::ManPage => PathBuf::from(loaded.skill.domain.clone().unwrap_or_default()),
            Dialect::Workflow | Dialect::Record => PathBuf::new(),
        };
        let file = PlannedFile::copy(&loaded.path, below.join(name))
            .map_err(|problem| Failure::file(&loaded.path, "read", &problem))?;
        self.files.push(file);
        self.copy_siblings(loaded, &below);
        Ok(())
    }

    fn copy_siblings(&mut self, loaded: &LoadedSkill, below: &Path) {
        let (files, refused) = copy_siblings(loaded, below);
        self.files.extend(files);
        self.refused.extend(refused);
    }

    /// Adds a skill in another dialect. Only the open format has folders, so only it can include the files
    /// beside the skill.
    fn convert(
        &mut self,
        loaded: &LoadedSkill,
        dialect: ExportDialect,
        to_folder: bool,
    ) -> Done<()> {
        let file = convert(&loaded.skill, dialect)?;
        let below = file.path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.files.push(file);
        let mut lost = lost_parts(&loaded.skill, dialect);
        if to_folder && dialect == ExportDialect::AgentSkills {
            self.copy_siblings(loaded, &below);
        } else {
            lost.extend(loaded.siblings.iter().map(|file| file.path.clone()));
        }
        if !lost.is_empty() {
            self.lost.push(LostParts {
                skill: loaded.skill.id.to_string(),
                what: lost,
            });
        }
        Ok(())
    }
}

/// Converts a file for output as JSON, without binary content.
fn view(file: &PlannedFile) -> ExportedFile {
    let text = std::str::from_utf8(&file.content).ok();
    ExportedFile {
        path: file.path.display().to_string(),
        content: text.map(str::to_owned),
        binary: text.is_none().then_some(BinaryFile {
            binary: true,
            size: file.content.len(),
        }),
    }
}

/// Fails if two skills have the same path: in another dialect, names may become equal, and one file would be
/// lost.
fn check_distinct_paths(files: &[PlannedFile]) -> Done<()> {
    let mut seen: HashMap<&Path, &[u8]> = HashMap::new();
    for file in files {
        let before = seen.insert(&file.path, &file.content);
        if before.is_some_and(|content| content != file.content) {
            let message = format!("two skills would be written to `{}`", file.path.display());
            return Err(Failure::input("same_file", message).hint("export one at a time"));
        }
    }
    Ok(())
}

fn convert(skill: &Skill, dialect: ExportDialect) -> Done<PlannedFile> {
    let id = skill.id.as_str();
    let file = |ending: &str| PathBuf::from(format!("{id}.{ending}"));
    let converted = match dialect {
        ExportDialect::AgentSkills => Some(open_format(skill)),
        ExportDialect::ManPage => id
            .split_once('.')
            .filter(|_| is_dotted(id) && !has_steps(skill))
            .map(|(domain, action)| {
                let path = PathBuf::from(domain).join(format!("{action}.md"));
                (path, render::manpage(skill))
            }),
        ExportDialect::Workflow => render::workflow(skill).map(|text| (file("yaml"), text)),
        ExportDialect::Record => {
            render::record(skill).map(|record| (file("json"), format!("{record:#}\n")))
        }
    };
    let (path, content) = converted.ok_or_else(|| cannot(skill, dialect))?;
    Ok(PlannedFile::new(path, content))
}

/// Renders the open format, which allows no dots and no underscores in names.
fn open_format(skill: &Skill) -> (PathBuf, String) {
    let name = deft_skillfile::slug(skill.id.as_str());
    let mut renamed = skill.clone();
    renamed.id = deft_model::SkillId::new(name.as_str());
    (
        PathBuf::from(name).join("SKILL.md"),
        render::agentskills(&renamed),
    )
}

fn has_steps(skill: &Skill) -> bool {
    matches!(skill.body, Body::Steps(_) | Body::Call { .. })
}

fn cannot(skill: &Skill, dialect: ExportDialect) -> Failure {
    let (what, hint) = match (dialect, &skill.body) {
        (ExportDialect::ManPage, Body::Steps(_) | Body::Call { .. }) => (
            "a man page: its steps cannot be written in a man page",
            "try `--format workflow`",
        ),
        (ExportDialect::ManPage, _) => (
            "a man page: its name is not of the form `domain.action`",
            "try `--format agentskills`",
        ),
        (ExportDialect::Workflow, _) => ("a workflow: it is prose", "try `--format agentskills`"),
        (ExportDialect::Record, Body::Manual { .. }) => (
            "a record: it runs code, which its `handler` names",
            "try `--format agentskills`, which leaves the handler out",
        ),
        (ExportDialect::Record, _) => (
            "a record: a plan has only calls that pass data on, without inputs, outputs, conditions, loops or compute",
            "try `--format workflow`",
        ),
        (ExportDialect::AgentSkills, _) => ("a SKILL.md", "try without `--format`"),
    };
    Failure::input(
        "cannot_export",
        format!("`{}` cannot be written as {what}", skill.id),
    )
    .hint(hint)
}

/// Returns the parts of the skill that the dialect cannot express.
fn lost_parts(skill: &Skill, dialect: ExportDialect) -> Vec<String> {
    let open = &skill.open;
    let license = ("license", open.license.is_some());
    let compatibility = ("compatibility", open.compatibility.is_some());
    let tools = ("allowed-tools", open.allowed_tools.is_some());
    let priority = ("priority", skill.priority != 0);
    let prose = ("instructions", skill.text().is_some());
    let fields = match dialect {
        ExportDialect::AgentSkills => lost_steps(skill),
        ExportDialect::ManPage => vec![priority, compatibility, tools],
        ExportDialect::Workflow => vec![prose, priority, compatibility, tools],
        ExportDialect::Record => vec![license, compatibility, tools],
    };
    let keys = match dialect {
        ExportDialect::AgentSkills => Vec::new(),
        ExportDialect::ManPage => unknown(&open.metadata),
        ExportDialect::Workflow => skill.extra.keys().collect(),
        ExportDialect::Record => [unknown(&open.metadata), skill.extra.keys().collect()].concat(),
    };
    let fields = fields.into_iter().filter(|(_, is_there)| *is_there);
    let names = fields.map(|(name, _)| name.to_owned());
    names.chain(keys.into_iter().cloned()).collect()
}

/// Returns the parts of a workflow that are lost or only described when the skill becomes prose.
fn lost_steps(skill: &Skill) -> Vec<(&'static str, bool)> {
    match &skill.body {
        Body::Steps(workflow) => {
            let computes = |step: &Step| step.kind.code().is_some();
            vec![
                ("steps", true),
                ("inputs", !workflow.inputs.is_empty()),
                ("outputs", !workflow.outputs.is_empty()),
                ("confirmations", !workflow.confirmations.is_empty()),
                ("compute", workflow.steps.iter().any(computes)),
            ]
        }
        Body::Call { .. } => vec![("steps", true)],
        Body::Manual { handler, .. } => vec![("handler", handler.is_some())],
        Body::Instructions(_) => Vec::new(),
    }
}

/// Returns the keys below `metadata` that are not deft's. deft's own keys are part of the skill and are
/// written in every dialect.
fn unknown(metadata: &deft_model::Object) -> Vec<&String> {
    let known = schema(Schema::Record);
    let is_known = |key: &str| key == "title" || known["properties"].get(key).is_some();
    metadata.keys().filter(|key| !is_known(key)).collect()
}
