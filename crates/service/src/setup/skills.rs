//! Imports skills and MCP servers of other hosts. Folders of skills are read in place.

use std::collections::HashSet;
use std::sync::Arc;

use deft_config::{Editor, resolve};
use deft_registry::{LoadedSkill, Options, Snapshot};
use deft_wire::Done;
use deft_wire::server::ImportedServer;
use deft_wire::setup::{FoundServers, FoundSkills, SetupFindings};
use deft_wire::skill_files::ImportReport;
use serde_json::json;

use super::machine::Machine;
use crate::library::Library;
use crate::servers::{self, ImportOptions};
use crate::skills;
use crate::workspace::Workspace;

/// Returns the detected folders that the configuration does not have yet, each with the number of skills that
/// the home lacks. Skills that `deft export` wrote there are in the home, so they do not count.
pub fn new_skills(workspace: &Workspace, found: &SetupFindings) -> Done<Vec<FoundSkills>> {
    let home = workspace.home_to_read()?;
    let library = Library::of_home(&home);
    let snapshot = library.load();
    let ids = snapshot.skills().map(|loaded| loaded.skill.id.as_str());
    let known: HashSet<String> = ids
        .flat_map(|id| [id.to_owned(), skills::exported_name(id)])
        .collect();
    let roots = home.roots();
    let mut new = Vec::new();
    for folder in &found.skills {
        let path = resolve(&home.path, &folder.path);
        if roots.contains(&path) {
            continue;
        }
        let there = Snapshot::load(&Options::new([path]), &library.moment);
        let is_known = |loaded: &&Arc<LoadedSkill>| known.contains(loaded.skill.id.as_str());
        let copies = there.skills().filter(is_known).count();
        // An unreadable file counts as new: its problem is shown once the folder is added.
        let skills = folder.skills.saturating_sub(copies);
        if skills > 0 {
            new.push(FoundSkills {
                skills,
                ..folder.clone()
            });
        }
    }
    Ok(new)
}

/// Converts the crontab of a machine into disabled workflows, or only lists them if `dry_run`. Jobs that were
/// imported before are not changed.
pub fn import_crontab(
    workspace: &Workspace,
    machine: &Machine,
    dry_run: bool,
) -> Done<ImportReport> {
    let text = machine.crontab.as_deref().unwrap_or_default();
    Ok(skills::import_crontab(workspace, text, dry_run)?.report)
}

/// Adds folders to `skills.paths`, without duplicates.
pub fn add_skills(workspace: &Workspace, folders: &[FoundSkills]) -> Done<Vec<String>> {
    if folders.is_empty() {
        return Ok(Vec::new());
    }
    let home = workspace.home()?;
    let mut paths = home.config.skill_paths.clone();
    let added: Vec<String> = folders.iter().map(|folder| folder.path.clone()).collect();
    paths.extend(added.iter().cloned());
    let mut editor = Editor::open(&home.path)?;
    editor.set(&["skills", "paths"].map(str::to_owned), &json!(paths))?;
    editor.save()?;
    Ok(added)
}

/// Returns the detected servers that can be imported. A name in two files is offered once.
pub fn new_servers(workspace: &Workspace, found: &SetupFindings) -> Done<Vec<FoundServers>> {
    let home = workspace.locate()?;
    let mut seen = Editor::open(&home)?.servers();
    let mut new = Vec::new();
    for file in &found.servers {
        let mut servers = file.servers.clone();
        servers.retain(|name| !seen.contains(&servers::allowed_name(name)));
        seen.extend(servers.iter().map(|name| servers::allowed_name(name)));
        if !servers.is_empty() {
            new.push(FoundServers {
                servers,
                ..file.clone()
            });
        }
    }
    Ok(new)
}

/// Imports servers. Keys in their files are stored as secrets, not in the configuration.
pub fn import_servers(workspace: &Workspace, chosen: &[FoundServers]) -> Done<Vec<ImportedServer>> {
    let mut imported = Vec::new();
    for file in chosen {
        let options = ImportOptions {
            file: resolve(&workspace.locate()?, &file.path),
            force: false,
            dry_run: false,
            only: Some(file.servers.clone()),
            store_secrets: true,
        };
        imported.extend(servers::import(workspace, &options)?.servers);
    }
    Ok(imported)
}
