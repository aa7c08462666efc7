//! `deft skills export`: writes skills out, as they are or in another dialect.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_model::{Body, Dialect, Skill, Step, StepKind};
use deft_registry::Loaded;
use deft_skillfile::{Schema, is_dotted, render, schema};
use serde_json::{Map, Value, json};

use super::files::{Planned, Refused, check_conflicts, copy_siblings};
use super::find;
use crate::args::{Export, ExportFormat, Global};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted};

pub(crate) fn run(args: &Export, global: &Global, output: &Output) -> Done {
    let library = global.workspace_of(&args.roots).library()?;
    let snapshot = library.load();
    let mut export = Exported::default();
    for name in &args.names {
        let loaded = find(&snapshot, name)?;
        match args.format {
            Some(format) => export.convert(loaded, format, args.to.is_some())?,
            None => export.copy(loaded)?,
        }
    }
    match &args.to {
        Some(folder) => export.write(folder, args.force, output)?,
        None => export.print(output)?,
    }
    Ok(ExitCode::from(u8::from(!export.refused.is_empty())))
}

/// What is written or printed, and what is not.
#[derive(Default)]
struct Exported {
    files: Vec<Planned>,
    refused: Vec<Refused>,
    /// By skill, what the other dialect cannot hold.
    lost: Vec<(String, Vec<String>)>,
}

impl Exported {
    /// The files of a skill as they are, below the names that they need.
    fn copy(&mut self, loaded: &Loaded) -> Done<()> {
        let name = Path::new(loaded.path.file_name().unwrap_or_default());
        let folder = loaded.path.parent().unwrap_or(Path::new(""));
        let below = match loaded.skill.dialect {
            Dialect::AgentSkills => PathBuf::from(folder.file_name().unwrap_or_default()),
            Dialect::ManPage => PathBuf::from(loaded.skill.domain.clone().unwrap_or_default()),
            Dialect::Workflow | Dialect::Record => PathBuf::new(),
        };
        let file = Planned::copy(&loaded.path, below.join(name))
            .map_err(|problem| Failure::file(&loaded.path, "read", &problem))?;
        self.files.push(file);
        self.copy_siblings(loaded, &below);
        Ok(())
    }

    fn copy_siblings(&mut self, loaded: &Loaded, below: &Path) {
        let (files, refused) = copy_siblings(loaded, below);
        self.files.extend(files);
        self.refused.extend(refused);
    }

    /// A skill in another dialect. Only a folder has room for the files beside
    /// it, and only the open format has folders.
    fn convert(&mut self, loaded: &Loaded, format: ExportFormat, to_folder: bool) -> Done<()> {
        let file = convert(&loaded.skill, format)?;
        let below = file.path.parent().unwrap_or(Path::new("")).to_path_buf();
        self.files.push(file);
        let mut lost = lost(&loaded.skill, format);
        if to_folder && format == ExportFormat::Agentskills {
            self.copy_siblings(loaded, &below);
        } else {
            lost.extend(loaded.siblings.iter().map(|file| file.path.clone()));
        }
        if !lost.is_empty() {
            self.lost.push((loaded.skill.id.to_string(), lost));
        }
        Ok(())
    }

    fn write(&mut self, folder: &Path, force: bool, output: &Output) -> Done<()> {
        for file in &mut self.files {
            file.path = folder.join(&file.path);
        }
        check_apart(&self.files)?;
        check_conflicts(&self.files, force)?;
        self.files.iter().try_for_each(Planned::write)?;
        let paths = self
            .files
            .iter()
            .map(|file| file.path.display().to_string());
        let paths: Vec<String> = paths.collect();
        if output.json {
            let mut document = self.document(json!(paths));
            document.insert("ok".to_owned(), json!(self.refused.is_empty()));
            return output.document(&Value::Object(document));
        }
        output.data(paths.join("\n"))?;
        output.note(&format!("{} written", counted(paths.len(), "file")));
        self.note(output);
        Ok(())
    }

    fn print(&self, output: &Output) -> Done<()> {
        if output.json {
            let files: Vec<Value> = self.files.iter().map(view).collect();
            let binary = files.iter().any(|file| file["binary"] == true);
            let mut document = self.document(json!(files));
            if binary {
                let hint = "`--to DIR` writes files that are not text";
                document.insert("hint".to_owned(), json!(hint));
            }
            return output.document(&Value::Object(document));
        }
        let [only] = self.files.as_slice() else {
            let count = counted(self.files.len(), "file");
            return Err(
                Failure::input("many_files", format!("{count} cannot be printed as one"))
                    .hint("`--to DIR` writes them, `--json` prints them in one document"),
            );
        };
        output.content(&String::from_utf8_lossy(&only.content))?;
        self.note(output);
        Ok(())
    }

    /// The document without what only one way of exporting has.
    fn document(&self, files: Value) -> Map<String, Value> {
        let refused =
            |one: &Refused| json!({"path": one.path.display().to_string(), "reason": one.reason});
        let lost = |(id, what): &(String, Vec<String>)| json!({"skill": id, "what": what});
        let mut document = Map::new();
        document.insert("files".to_owned(), files);
        document.insert("lost".to_owned(), self.lost.iter().map(lost).collect());
        document.insert(
            "refused".to_owned(),
            self.refused.iter().map(refused).collect(),
        );
        document
    }

    /// Says what is missing, beside the data.
    fn note(&self, output: &Output) {
        for (id, what) in &self.lost {
            output.note(&format!("left out: {} of `{id}`", what.join(", ")));
        }
        for Refused { path, reason } in &self.refused {
            output.note(&format!("refused: {}: {reason}", path.display()));
        }
    }
}

/// A file in a JSON document, which has no place for bytes.
fn view(file: &Planned) -> Value {
    let path = file.path.display().to_string();
    match std::str::from_utf8(&file.content) {
        Ok(text) => json!({"path": path, "content": text}),
        Err(_) => {
            json!({"path": path, "content": null, "binary": true, "size": file.content.len()})
        }
    }
}

/// Names may become the same in another dialect, and one would be lost.
fn check_apart(files: &[Planned]) -> Done<()> {
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

fn convert(skill: &Skill, format: ExportFormat) -> Done<Planned> {
    let id = skill.id.as_str();
    let file = |ending: &str| PathBuf::from(format!("{id}.{ending}"));
    let converted = match format {
        ExportFormat::Agentskills => Some(open_format(skill)),
        ExportFormat::Manpage => id
            .split_once('.')
            .filter(|_| is_dotted(id) && !has_steps(skill))
            .map(|(domain, action)| {
                let path = PathBuf::from(domain).join(format!("{action}.md"));
                (path, render::manpage(skill))
            }),
        ExportFormat::Workflow => render::workflow(skill).map(|text| (file("yaml"), text)),
        ExportFormat::Record => {
            render::record(skill).map(|record| (file("json"), format!("{record:#}\n")))
        }
    };
    let (path, content) = converted.ok_or_else(|| cannot(skill, format))?;
    Ok(Planned::new(path, content))
}

/// The open format has no dots and no underscores in names.
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

fn cannot(skill: &Skill, format: ExportFormat) -> Failure {
    let (what, hint) = match (format, &skill.body) {
        (ExportFormat::Manpage, Body::Steps(_) | Body::Call { .. }) => (
            "a man page: its steps cannot be written in a man page",
            "try `--format workflow`",
        ),
        (ExportFormat::Manpage, _) => (
            "a man page: its name is not of the form `domain.action`",
            "try `--format agentskills`",
        ),
        (ExportFormat::Workflow, _) => ("a workflow: it is prose", "try `--format agentskills`"),
        (ExportFormat::Record, Body::Manual { .. }) => (
            "a record: there is code behind it, which its `handler` names",
            "try `--format agentskills`, which leaves the handler out",
        ),
        (ExportFormat::Record, _) => (
            "a record: its plan has only calls that pass data on, without inputs, outputs, conditions, loops or compute",
            "try `--format workflow`",
        ),
        (ExportFormat::Agentskills, _) => ("a SKILL.md", "try without `--format`"),
    };
    Failure::input(
        "cannot_export",
        format!("`{}` cannot be written as {what}", skill.id),
    )
    .hint(hint)
}

/// What the skill has and the dialect cannot hold.
fn lost(skill: &Skill, format: ExportFormat) -> Vec<String> {
    let open = &skill.open;
    let license = ("license", open.license.is_some());
    let compatibility = ("compatibility", open.compatibility.is_some());
    let tools = ("allowed-tools", open.allowed_tools.is_some());
    let priority = ("priority", skill.priority != 0);
    let prose = ("instructions", skill.text().is_some());
    let fields = match format {
        ExportFormat::Agentskills => lost_steps(skill),
        ExportFormat::Manpage => vec![priority, compatibility, tools],
        ExportFormat::Workflow => vec![prose, priority, compatibility, tools],
        ExportFormat::Record => vec![license, compatibility, tools],
    };
    let keys = match format {
        ExportFormat::Agentskills => Vec::new(),
        ExportFormat::Manpage => unknown(&open.metadata),
        ExportFormat::Workflow => skill.extra.keys().collect(),
        ExportFormat::Record => [unknown(&open.metadata), skill.extra.keys().collect()].concat(),
    };
    let fields = fields.into_iter().filter(|(_, is_there)| *is_there);
    let names = fields.map(|(name, _)| name.to_owned());
    names.chain(keys.into_iter().cloned()).collect()
}

/// What is only described, or not even that, where a skill becomes prose.
fn lost_steps(skill: &Skill) -> Vec<(&'static str, bool)> {
    match &skill.body {
        Body::Steps(workflow) => {
            let computes = |step: &Step| matches!(step.kind, StepKind::Compute { .. });
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

/// The keys below `metadata` that are not deft's: what its own keys say is
/// part of the skill and is written in every dialect.
fn unknown(metadata: &deft_model::Object) -> Vec<&String> {
    let known = schema(Schema::Record);
    let is_known = |key: &str| key == "title" || known["properties"].get(key).is_some();
    metadata.keys().filter(|key| !is_known(key)).collect()
}
