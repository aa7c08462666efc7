//! `deft skills export`: writes skills out, as they are or in another dialect.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_model::{Dialect, Skill};
use deft_registry::Loaded;
use deft_skillfile::{is_dotted, render};
use serde_json::json;

use super::files::{Planned, check_conflicts};
use super::find;
use crate::args::{Export, ExportFormat, Global};
use crate::failure::{Done, Failure};
use crate::home::Library;
use crate::output::{Output, counted};

pub(crate) fn run(args: &Export, global: &Global, output: &Output) -> Done {
    let library = Library::open(global, &args.roots)?;
    let snapshot = library.load();
    let mut files = Vec::new();
    for name in &args.names {
        let loaded = find(&snapshot, name)?;
        match args.format {
            Some(format) => files.push(convert(&loaded.skill, format)?),
            None => files.extend(verbatim(loaded)?),
        }
    }
    match &args.to {
        Some(folder) => write(files, folder, args.force, output),
        None => print(&files, output),
    }
}

fn write(mut files: Vec<Planned>, folder: &Path, force: bool, output: &Output) -> Done {
    for file in &mut files {
        file.path = folder.join(&file.path);
    }
    check_conflicts(&files, force)?;
    for file in &files {
        file.write()?;
    }
    let paths: Vec<String> = files
        .iter()
        .map(|file| file.path.display().to_string())
        .collect();
    if output.json {
        output.document(&json!({"ok": true, "files": paths}))?;
    } else {
        output.data(&paths.join("\n"))?;
        output.note(&format!("{} written", counted(paths.len(), "file")));
    }
    Ok(ExitCode::SUCCESS)
}

fn print(files: &[Planned], output: &Output) -> Done {
    let text = |file: &Planned| String::from_utf8_lossy(&file.content).into_owned();
    if output.json {
        let view = |file: &Planned| json!({"path": file.path.display().to_string(), "content": text(file)});
        output.document(&json!({"files": files.iter().map(view).collect::<Vec<_>>()}))?;
    } else if let [only] = files {
        output.data(&text(only))?;
    } else {
        return Err(Failure::input(
            "many_files",
            format!("{} cannot be printed as one", counted(files.len(), "file")),
        )
        .hint("`--to DIR` writes them, `--json` prints them in one document"));
    }
    Ok(ExitCode::SUCCESS)
}

/// The files of a skill as they are, below the names that they need.
fn verbatim(loaded: &Loaded) -> Done<Vec<Planned>> {
    let read = |from: &Path, path: PathBuf| {
        let content =
            std::fs::read(from).map_err(|problem| Failure::file(from, "read", &problem))?;
        Ok(Planned { path, content })
    };
    let name = Path::new(loaded.path.file_name().unwrap_or_default());
    let folder = loaded.path.parent().unwrap_or(Path::new(""));
    let below = match loaded.skill.dialect {
        Dialect::AgentSkills => PathBuf::from(folder.file_name().unwrap_or_default()),
        Dialect::ManPage => PathBuf::from(loaded.skill.domain.clone().unwrap_or_default()),
        Dialect::Workflow | Dialect::Record => PathBuf::new(),
    };
    let mut files = vec![read(&loaded.path, below.join(name))?];
    for sibling in &loaded.siblings {
        files.push(read(
            &folder.join(&sibling.path),
            below.join(&sibling.path),
        )?);
    }
    Ok(files)
}

fn convert(skill: &Skill, format: ExportFormat) -> Done<Planned> {
    let id = skill.id.as_str();
    let (path, content) = match format {
        ExportFormat::Agentskills => {
            let name = open_name(id);
            let mut renamed = skill.clone();
            renamed.id = deft_model::SkillId::new(name.as_str());
            (
                PathBuf::from(name).join("SKILL.md"),
                Some(render::agentskills(&renamed)),
            )
        }
        ExportFormat::Manpage => {
            let path = id
                .split_once('.')
                .map(|(domain, action)| PathBuf::from(domain).join(format!("{action}.md")));
            (
                path.clone().unwrap_or_default(),
                path.filter(|_| is_dotted(id))
                    .map(|_| render::manpage(skill)),
            )
        }
        ExportFormat::Workflow => (PathBuf::from(format!("{id}.yaml")), render::workflow(skill)),
        ExportFormat::Record => {
            let record = render::record(skill).map(|record| format!("{record:#}\n"));
            (PathBuf::from(format!("{id}.json")), record)
        }
    };
    let content = content.ok_or_else(|| cannot(skill, format))?;
    Ok(Planned {
        path,
        content: content.into_bytes(),
    })
}

/// The open format has no dots and no underscores in names.
fn open_name(id: &str) -> String {
    deft_skillfile::slug(id)
}

fn cannot(skill: &Skill, format: ExportFormat) -> Failure {
    let (what, hint) = match format {
        ExportFormat::Manpage => (
            "a man page: its name has no dot",
            "try `--format agentskills`",
        ),
        ExportFormat::Workflow => ("a workflow: it is prose", "try `--format agentskills`"),
        ExportFormat::Record => (
            "a record: a plan has no inputs, conditions, loops or compute",
            "try `--format workflow`",
        ),
        ExportFormat::Agentskills => ("a SKILL.md", "try without `--format`"),
    };
    Failure::input(
        "cannot_export",
        format!("`{}` cannot be written as {what}", skill.id),
    )
    .hint(hint)
}
