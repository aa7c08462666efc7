//! `deft skills prompt`: what a model is shown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deft_registry::discovery::{Listed, available_skills, listing, skill_tool};
use deft_registry::{MAX_FILE_BYTES, read_regular};
use deft_skillfile::{Place, Profile, parse};
use serde_json::json;

use super::stored::join;
use crate::args::{Global, Prompt, PromptFormat};
use crate::failure::{Done, Failure};
use crate::output::{Output, counted};
use deft_config::system_moment;

pub(crate) fn run(args: &Prompt, global: &Global, output: &Output) -> Done {
    if !args.paths.is_empty() {
        output.content(&named(&args.paths)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let files = global.workspace_of(&args.roots).library()?.load();
    let snapshot = join(files, global, &args.roots)?;
    match args.format {
        PromptFormat::Tool => {
            let tool = skill_tool(&snapshot).ok_or_else(|| {
                Failure::input(
                    "no_skills",
                    "there are no skills, so there is no `skill` tool",
                )
            })?;
            output.document(&tool)?;
        }
        PromptFormat::Xml => {
            let list = listing(&snapshot, args.budget);
            if output.json {
                let ids = |ids: &[deft_model::SkillId]| {
                    ids.iter().map(ToString::to_string).collect::<Vec<_>>()
                };
                let left_out = ids(&list.left_out);
                output.document(
                    &json!({"text": list.text, "listed": ids(&list.listed), "left_out": left_out}),
                )?;
            } else {
                output.content(&list.text)?;
            }
            if !list.left_out.is_empty() {
                output.note(&format!(
                    "{} left out to stay within {} characters",
                    counted(list.left_out.len(), "skill"),
                    args.budget
                ));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Folders in the order they were given, as the reference's `to-prompt` does.
fn named(folders: &[PathBuf]) -> Done<String> {
    let mut entries = Vec::new();
    for folder in folders {
        entries.push(entry(folder)?);
    }
    let listed = entries.iter().map(|(name, description, location)| Listed {
        name,
        description,
        location,
    });
    Ok(available_skills(listed))
}

fn entry(folder: &Path) -> Done<(String, String, PathBuf)> {
    let folder = match folder.file_name().and_then(|name| name.to_str()) {
        Some("SKILL.md" | "skill.md") => folder.parent().unwrap_or(Path::new(".")),
        _ => folder,
    };
    let resolved = folder
        .canonicalize()
        .map_err(|problem| Failure::file(folder, "read", &problem))?;
    let path = ["SKILL.md", "skill.md"]
        .iter()
        .map(|name| resolved.join(name))
        .find(|path| path.exists());
    let path = path.ok_or_else(|| {
        Failure::input(
            "missing_skill_md",
            format!("No SKILL.md found in {}", folder.display()),
        )
        .hint("`--root DIR` reads a folder of skills")
    })?;
    let bytes = read_regular(&path, MAX_FILE_BYTES)
        .map_err(|problem| Failure::file(&path, "read", &problem))?;
    let place = Place {
        file: path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default(),
        folder: resolved
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default(),
        domain: None,
    };
    let parsed = parse(&bytes, &place, Profile::AgentSkills, &system_moment());
    let text = |key: &str| {
        parsed
            .properties
            .as_ref()?
            .get(key)?
            .as_str()
            .map(str::to_owned)
    };
    match (text("name"), text("description")) {
        (Some(name), Some(description)) => Ok((name, description, path)),
        _ => Err(Failure::input(
            "invalid_skill",
            format!(
                "`{}` has no name and description that can be read",
                path.display()
            ),
        )
        .hint("`deft skills validate` says what is wrong with it")),
    }
}
