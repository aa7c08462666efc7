//! Reads and replaces the file of a skill. A write includes the hash of the text it is based on, so that
//! concurrent writers do not overwrite each other's changes.

use std::path::Path;

use deft_config::replace_file;
use deft_registry::{LoadedSkill, MAX_FILE_BYTES};
use deft_wire::api::{SkillSource, SkillWrite};
use deft_wire::diagnostic::Severity;
use deft_wire::{Done, Failure};
use sha2::{Digest, Sha256};

use super::catalog::SkillCatalog;
use super::validate::validate_text;
use crate::workspace::Workspace;

/// Returns the text of the file that defines a skill.
pub fn source(workspace: &Workspace, name: &str) -> Done<SkillSource> {
    let catalog = SkillCatalog::open_files(workspace)?;
    read(workspace, catalog.find_file(name)?)
}

fn read(workspace: &Workspace, loaded: &LoadedSkill) -> Done<SkillSource> {
    let path: &Path = &loaded.path;
    let text = deft_registry::read_text(path, MAX_FILE_BYTES);
    let text = text.map_err(|problem| Failure::file(path, "read", &problem))?;
    Ok(SkillSource {
        skill: loaded.skill.id.to_string(),
        path: path.display().to_string(),
        hash: hash(&text),
        text,
        writable: path.starts_with(workspace.home_to_read()?.skills()),
    })
}

/// Replaces the text of a file. Fails if the new text has errors, or if the file has changed since the text
/// that the write is based on.
pub fn write_source(workspace: &Workspace, name: &str, write: &SkillWrite) -> Done<SkillSource> {
    let catalog = SkillCatalog::open_files(workspace)?;
    let loaded = catalog.find_file(name)?;
    let now = read(workspace, loaded)?;
    if !now.writable {
        let message = format!("`{}` is not in the skills of this home", now.path);
        return Err(Failure::input("not_ours", message).hint("change the file where it is kept"));
    }
    if now.hash != write.base_hash {
        let message = format!("`{}` has changed since it was read", now.path);
        let hint = "read it again, make the change in the new text, and send that with its `hash`";
        return Err(Failure::input("changed_file", message).hint(hint));
    }
    check(&loaded.path, &write.text)?;
    replace_file(&loaded.path, &write.text)?;
    workspace.note_written();
    Ok(SkillSource {
        hash: hash(&write.text),
        text: write.text.clone(),
        ..now
    })
}

fn check(path: &Path, text: &str) -> Done<()> {
    let checked = validate_text(path, text)?;
    let mut found = checked.diagnostics.iter();
    let Some(first) = found.find(|one| one.severity == Severity::Error) else {
        return Ok(());
    };
    let message = format!("line {}: {}", first.line, first.message);
    Err(Failure::input("invalid_skill", message).maybe_hint(first.help.clone()))
}

fn hash(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
