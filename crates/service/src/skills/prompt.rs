//! The skills as they are presented to models.

use std::path::{Path, PathBuf};

use deft_config::system_moment;
use deft_model::SkillId;
use deft_registry::discovery::{ListedSkill, available_skills, listing, skill_tool};
use deft_registry::{MAX_FILE_BYTES, Snapshot, read_regular};
use deft_skillfile::{FileLocation, Profile, parse};
use deft_wire::skill_files::{SchemaDocument, SkillPrompt, SkillTool};
use deft_wire::{Done, Failure};

use super::catalog::SkillCatalog;
use crate::workspace::Workspace;

/// Returns the list of skills for a prompt, with at most `budget` characters.
pub fn prompt(workspace: &Workspace, budget: usize) -> Done<SkillPrompt> {
    let list = listing(&offered_snapshot(workspace)?, budget);
    let ids = |ids: &[SkillId]| ids.iter().map(ToString::to_string).collect();
    Ok(SkillPrompt {
        listed: ids(&list.listed),
        left_out: ids(&list.left_out),
        text: list.text,
    })
}

/// Returns the `skill` tool.
pub fn prompt_tool(workspace: &Workspace) -> Done<SkillTool> {
    let tool = skill_tool(&offered_snapshot(workspace)?).ok_or_else(|| {
        let message = "no skills, so the `skill` tool is not offered";
        Failure::input("no_skills", message)
    })?;
    Ok(SkillTool {
        name: tool.name,
        description: tool.description,
        parameters: SchemaDocument(tool.schema),
    })
}

/// Returns the skills of files and records.
fn offered_snapshot(workspace: &Workspace) -> Done<Snapshot> {
    Ok(SkillCatalog::open(workspace)?.into_joined()?.0)
}

/// Returns the list of these folders in this order, in the format of the reference implementation's
/// `to-prompt`.
pub fn prompt_folders(folders: &[PathBuf]) -> Done<String> {
    let mut entries = Vec::new();
    for folder in folders {
        entries.push(entry(folder)?);
    }
    let listed = entries
        .iter()
        .map(|(name, description, location)| ListedSkill {
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
        let message = format!("No SKILL.md found in {}", folder.display());
        Failure::input("missing_skill_md", message).hint("`--root DIR` reads a folder of skills")
    })?;
    let bytes = read_regular(&path, MAX_FILE_BYTES)
        .map_err(|problem| Failure::file(&path, "read", &problem))?;
    let location = FileLocation {
        file: name(&path),
        folder: name(&resolved),
        domain: None,
    };
    let parsed = parse(&bytes, &location, Profile::AgentSkills, &system_moment());
    let text = |key: &str| {
        let properties = parsed.properties.as_ref()?;
        properties.get(key)?.as_str().map(str::to_owned)
    };
    match (text("name"), text("description")) {
        (Some(name), Some(description)) => Ok((name, description, path)),
        _ => {
            let path = path.display();
            let message = format!("`{path}` has no name and description that can be read");
            Err(Failure::input("invalid_skill", message)
                .hint("`deft skills validate` shows the problems"))
        }
    }
}

fn name(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_default()
}
