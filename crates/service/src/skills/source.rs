//! Reads and replaces the file of a skill. A write includes the hash of the text it is based on, so that
//! concurrent writers do not overwrite each other's changes.

use std::path::Path;

use deft_config::{lock_edits, replace_file};
use deft_registry::{LoadedSkill, MAX_FILE_BYTES};
use deft_wire::api::{SkillSource, SkillWrite};
use deft_wire::diagnostic::Severity;
use deft_wire::{Done, Failure};

use super::catalog::SkillCatalog;
use super::validate::validate_text;
use crate::hex::hex_digest;
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
        hash: hex_digest(text.as_bytes()),
        text,
        writable: path.starts_with(workspace.home_to_read()?.skills()),
    })
}

/// Replaces the text of a file. Fails if the new text has errors, or if the file has changed since the text
/// that the write is based on.
pub fn write_source(workspace: &Workspace, name: &str, write: &SkillWrite) -> Done<SkillSource> {
    let _lock = lock_edits(&workspace.locate()?);
    let catalog = SkillCatalog::open_files(workspace)?;
    let loaded = catalog.find_file(name)?;
    let now = read(workspace, loaded)?;
    if !now.writable {
        let message = format!("`{}` is not in the skills of this home", now.path);
        return Err(Failure::input("not_ours", message).hint("change the file at its source"));
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
        hash: hex_digest(write.text.as_bytes()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_writers_of_the_same_version_wins() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("skills").join("greet.yaml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = |who: usize| {
            format!(
                "name: greet\ndescription: Greets {who}\nsteps:\n  - {{id: say, tool: log, args: {{message: hi}}}}\n"
            )
        };
        std::fs::write(&file, text(0)).unwrap();
        let workspace = Workspace {
            home: Some(home.path().to_owned()),
            roots: Vec::new(),
            tell: |_| {},
            quiet: true,
            live: None,
        };
        let base_hash = source(&workspace, "greet").unwrap().hash;
        let results: Vec<(usize, Done<SkillSource>)> = std::thread::scope(|scope| {
            let writers: Vec<_> = (1..=8)
                .map(|who| {
                    let (workspace, base_hash) = (&workspace, base_hash.clone());
                    let text = text(who);
                    scope.spawn(move || {
                        let write = SkillWrite { base_hash, text };
                        (who, write_source(workspace, "greet", &write))
                    })
                })
                .collect();
            let joined = writers.into_iter().map(|writer| writer.join().unwrap());
            joined.collect()
        });
        let (won, lost): (Vec<_>, Vec<_>) =
            results.into_iter().partition(|(_, result)| result.is_ok());
        assert_eq!(won.len(), 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text(won[0].0));
        for (_, result) in lost {
            assert_eq!(result.unwrap_err().code, "changed_file");
        }
    }
}
